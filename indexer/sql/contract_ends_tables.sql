-- The scratch tables of a stream.
SELECT toLowCardinality(name) AS name FROM system.tables
WHERE database = currentDatabase() AND startsWith(tables.name, {prefix:String})
