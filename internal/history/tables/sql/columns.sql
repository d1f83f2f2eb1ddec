-- The columns of tables, in their order, also those that are computed.
SELECT table AS table_name, name AS column_name, type AS column_type, comment AS meaning
FROM system.columns
WHERE database = currentDatabase() AND table IN {tables:Array(String)}
ORDER BY table, position
