-- Who bought how much traffic?
-- group: Validator operator
-- number: 36
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT member, count() AS purchases, sum(bought) AS bytes, sum(paid) AS coins, max(record_time) AS last
FROM (
    SELECT record_time, JSONExtractString(argument, 'record', 'fields', 4, 'value', 'text') AS member,
        toInt64(JSONExtractString(argument, 'record', 'fields', 7, 'value', 'int64')) AS bought,
        toDecimal128(JSONExtractString(result, 'record', 'fields', 3, 'value', 'numeric'), 10) AS paid
    FROM events
    WHERE stream = 'scan' AND choice = 'AmuletRules_BuyMemberTraffic' AND record_time >= {from:Date} AND record_time < {to:Date}
)
GROUP BY member
ORDER BY bytes DESC, member
