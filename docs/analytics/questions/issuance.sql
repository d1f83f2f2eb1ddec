-- How much is minted and burnt each day, and what is left?
-- group: Analyst
-- number: 2
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT toDate(record_time) AS day,
    sumIf(amount, cause = 'mint' AND class = 'app') AS minted_app,
    sumIf(amount, cause = 'mint' AND startsWith(class, 'validator')) AS minted_validator,
    sumIf(amount, cause = 'mint' AND class = 'operator') AS minted_operator,
    sumIf(amount, cause = 'mint') AS minted,
    -sumIf(amount, cause = 'burn') AS burnt,
    minted - burnt AS net
FROM movements
WHERE stream = 'scan' AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day
ORDER BY day
