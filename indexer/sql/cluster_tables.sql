-- The tables of a shard that are read through the cluster: all but scratch space, what processes make
-- for themselves, and goose's own. Views come last, because they read tables.
SELECT name, engine, create_table_query
FROM system.tables
WHERE database = ? AND name NOT LIKE 'goose%' AND name NOT LIKE 'contract_ends%' AND name NOT LIKE '%_next' AND name != 'leases'
  AND name != 'reshard'
ORDER BY engine = 'View', name
