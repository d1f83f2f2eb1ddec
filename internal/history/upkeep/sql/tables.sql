-- What the tables of this database take on the server that answers, the largest first.
SELECT table AS name, toInt64(count()) AS parts, toInt64(sum(rows)) AS total_rows, toInt64(sum(bytes_on_disk)) AS bytes
FROM system.parts
WHERE active AND database = currentDatabase()
GROUP BY table
ORDER BY bytes DESC, name
LIMIT 100
