-- The name of a table, if the database has it.
SELECT toLowCardinality(name) AS name FROM system.tables WHERE database = currentDatabase() AND tables.name = {name:String}
