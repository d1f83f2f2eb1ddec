-- How many parts each table reads.
SELECT table, count() AS parts
FROM system.parts
WHERE active AND database = currentDatabase()
GROUP BY table
ORDER BY table
