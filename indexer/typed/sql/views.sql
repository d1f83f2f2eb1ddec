-- Those of some views that there are.
SELECT toLowCardinality(name) AS name FROM system.tables WHERE database = currentDatabase() AND tables.name IN {names:Array(String)} AND engine = 'View' ORDER BY name
