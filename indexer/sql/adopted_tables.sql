-- The statements that make the tables of a database again, but for what processes make for themselves.
-- Views come last, because they read tables.
SELECT replaceRegexpOne(create_table_query, '^CREATE (TABLE|VIEW) ', 'CREATE \\1 IF NOT EXISTS ')
FROM system.tables
WHERE database = currentDatabase() AND name NOT LIKE 'goose%' AND name NOT LIKE 'contract_ends\_%' AND name NOT LIKE 'reshard%'
    AND name NOT LIKE '%\_next' AND name != 'leases'
ORDER BY engine = 'View', name
