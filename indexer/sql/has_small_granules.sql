-- The name of a table if its granules have 1,024 rows.
SELECT toLowCardinality(name) AS name
FROM system.tables
WHERE database = currentDatabase() AND tables.name = {name:String} AND engine_full LIKE '%index_granularity = 1024%'
