-- How much supply is there at the end of each day, locked and not?
-- group: Analyst
-- number: 1
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

SELECT day, unlocked, locked, unlocked + locked AS total
FROM (
    SELECT toDate(record_time) AS day,
        sum(sumIf(amount, pocket = 'unlocked')) OVER (ORDER BY day) AS unlocked,
        sum(sumIf(amount, pocket = 'locked')) OVER (ORDER BY day) AS locked
    FROM movements
    WHERE stream = 'scan'
    GROUP BY day
)
WHERE day >= {from:Date} AND day < {to:Date}
ORDER BY day
