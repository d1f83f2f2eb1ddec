-- How much is burnt for each coin that is minted, on a day and over 30 days?
-- group: Analyst
-- number: 4
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

-- Ratios of sums, cut after six digits; empty where nothing was minted.
SELECT day, minted, burnt,
    divideDecimal(burnt, nullIf(minted, 0), 6) AS ratio,
    divideDecimal(sum(burnt) OVER month, nullIf(sum(minted) OVER month, 0), 6) AS ratio_of_30_days
FROM (
    SELECT toDate(record_time) AS day, sumIf(amount, cause = 'mint') AS minted, -sumIf(amount, cause = 'burn') AS burnt
    FROM movements
    WHERE stream = 'scan'
    GROUP BY day
)
WHERE day >= {from:Date} AND day < {to:Date}
WINDOW month AS (ORDER BY toInt32(day) RANGE BETWEEN 29 PRECEDING AND CURRENT ROW)
ORDER BY day
