-- How often is the unlocked supply turned over each day?
-- group: Analyst
-- number: 9
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

-- Volume of the day by the unlocked supply at its end, cut after six digits.
SELECT day, volume, unlocked, divideDecimal(volume, nullIf(unlocked, 0), 6) AS velocity
FROM (
    SELECT toDate(record_time) AS day,
        sumIf(amount, cause = 'transfer' AND amount > 0 AND party != counterparty) AS volume,
        sum(sumIf(amount, pocket = 'unlocked')) OVER (ORDER BY day) AS unlocked
    FROM movements
    WHERE stream = 'scan'
    GROUP BY day
)
WHERE day >= {from:Date} AND day < {to:Date}
ORDER BY day
