-- How many tables of a database have rows of their own.
SELECT count() FROM system.tables WHERE database = ? AND name != 'goose_db_version' AND engine LIKE '%MergeTree'
