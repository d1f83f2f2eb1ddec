-- Those of some tables that have rows.
SELECT toLowCardinality(name) AS name FROM system.tables
WHERE database = currentDatabase() AND tables.name IN {tables:Array(String)} AND total_rows > 0
