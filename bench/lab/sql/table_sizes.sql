-- Rows, bytes on disk and parts of each table. Patch parts, which lightweight updates
-- leave until they are merged, take space but hold no rows of their own.
SELECT table, sumIf(rows, NOT startsWith(name, 'patch-')) AS rows, sum(bytes_on_disk) AS bytes, count() AS parts
FROM system.parts
WHERE active AND database = currentDatabase()
GROUP BY table
ORDER BY table
