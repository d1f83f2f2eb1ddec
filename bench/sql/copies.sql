-- How many copies by update id there are, and the folder that they are in.
SELECT (SELECT count() FROM lookup_rows) AS n, data_paths[1] AS folder
FROM system.tables
WHERE database = currentDatabase() AND name = 'lookup_rows'
