-- What can be completed: tables, columns with their tables, and functions.
SELECT 'table' AS kind, name AS word, '' AS of
FROM system.tables
WHERE database = currentDatabase() AND NOT startsWith(name, '.')
UNION ALL
SELECT 'column', name, table
FROM system.columns
WHERE database = currentDatabase()
UNION ALL
SELECT 'function', name, ''
FROM system.functions
WHERE origin = 'System' AND NOT startsWith(name, '_')
ORDER BY 1, 2, 3
