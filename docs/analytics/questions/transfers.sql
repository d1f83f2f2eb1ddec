-- How many transfers are there each day, of how much?
-- group: Analyst
-- number: 8
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT toDate(record_time) AS day, count() AS transfers, sum(amount) AS volume,
    quantileExactLow(0.5)(amount) AS median, max(amount) AS largest
FROM movements
WHERE stream = 'scan' AND cause = 'transfer' AND amount > 0 AND party != counterparty
    AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day
ORDER BY day
