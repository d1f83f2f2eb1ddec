-- The rows of a table that are not those of the query for them, by key.
SELECT place, arrayStringConcat(groupArrayIf(10)(row, n > 0), '; ') AS expected, arrayStringConcat(groupArrayIf(10)(if(n < -1, concat(toString(-n), ' times ', row), row), n < 0), '; ') AS found
FROM
(
    SELECT place, row, sum(sign) AS n
    FROM
    (
        SELECT toString(tuple(KEY)) AS place, toString(tuple(*)) AS row, toInt64(1) AS sign FROM (ROWS)
        UNION ALL
        SELECT toString(tuple(KEY)) AS place, toString(tuple(*)) AS row, toInt64(-1) AS sign FROM TABLE
        WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND PARTIES
          AND hour >= fromUnixTimestamp64Micro({first_hour:Int64}, 'UTC') AND hour < fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
    )
    GROUP BY place, row
    HAVING n != 0
)
GROUP BY place
ORDER BY place
