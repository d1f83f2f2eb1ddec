-- Do parties that began to hold coins in a month still hold some at the end of that month and of later ones?
-- group: Analyst
-- number: 14

SELECT first_month, month, count() AS holders, countIf(balance > 0) AS still_holding
FROM (
    SELECT party, min(of_month) AS first_month, groupArray((of_month, change)) AS changes,
        arrayJoin((SELECT groupUniqArray(toStartOfMonth(record_time)) FROM movements WHERE stream = 'scan')) AS month,
        arraySum(c -> if(c.1 <= month, c.2, toDecimal128(0, 10)), changes) AS balance
    FROM (
        SELECT party, toStartOfMonth(record_time) AS of_month, sum(amount) AS change
        FROM movements
        WHERE stream = 'scan'
        GROUP BY party, of_month
    )
    GROUP BY party
)
WHERE month >= first_month
GROUP BY first_month, month
ORDER BY first_month, month
