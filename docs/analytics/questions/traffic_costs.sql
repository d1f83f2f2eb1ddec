-- What did the traffic of a month cost?
-- group: Validator operator
-- number: 37
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT toStartOfMonth(record_time) AS month, -sum(amount) AS coins, count() AS purchases, uniqExact(party) AS buyers
FROM movements
WHERE stream = 'scan' AND cause = 'burn' AND class = 'traffic' AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY month
ORDER BY month
