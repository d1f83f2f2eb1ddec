-- By how much the number of distinct parties in so many days changes with each day.
SELECT toInt64(day * 86400000000) AS bucket, toInt64(sum(sign)) AS value, true AS known, false AS pending
FROM
(
    SELECT active_on, lagInFrame(active_on, 1, toInt64(-1000000)) OVER (PARTITION BY party ORDER BY active_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
    FROM
    (
        SELECT DISTINCT party, intDiv(toUnixTimestamp64Micro(hour), 86400000000) AS active_on FROM SOURCE AS m
        WHERE (PARTIES) AND hour >= fromUnixTimestamp64Micro(greatest({from:Int64} - DAYS * 86400000000, 0), 'UTC')
    )
)
ARRAY JOIN [greatest(active_on, before + DAYS), active_on + DAYS] AS day, [1, -1] AS sign
WHERE bucket < {to:Int64}
GROUP BY day
ORDER BY day
