-- For how much activity did apps get coupons, round by round?
-- group: App operator
-- number: 26
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

-- Coupons by rounds: amount is the weight of the activity, of which the issuance of the round decides the worth.
SELECT JSONExtractInt(argument, 'record', 'fields', 5, 'value', 'record', 'fields', 1, 'value', 'int64') AS round,
    JSONExtractString(argument, 'record', 'fields', 2, 'value', 'party') AS provider,
    count() AS coupons, sum(toDecimal128(JSONExtractString(argument, 'record', 'fields', 4, 'value', 'numeric'), 10)) AS amount
FROM events
WHERE stream = 'scan' AND kind = 'created' AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Amulet:AppRewardCoupon')
    AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY round, provider
ORDER BY round, amount DESC, provider

-- DuckDB
SELECT (create_arguments->>'$.record.fields[4].value.record.fields[0].value.int64')::BIGINT AS round,
    create_arguments->>'$.record.fields[1].value.party' AS provider,
    count(*) AS coupons, sum((create_arguments->>'$.record.fields[3].value.numeric')::DECIMAL(38, 10)) AS amount
FROM events
WHERE kind = 'created' AND template_name = 'splice-amulet:Splice.Amulet:AppRewardCoupon'
    AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
GROUP BY round, provider
ORDER BY round, amount DESC, provider
