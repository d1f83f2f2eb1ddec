SELECT name AS table, if(engine = 'View', 'view', 'table') AS kind, total_rows AS rows, formatReadableSize(total_bytes) AS size
FROM system.tables
WHERE database = currentDatabase() AND NOT startsWith(name, '.')
ORDER BY name
