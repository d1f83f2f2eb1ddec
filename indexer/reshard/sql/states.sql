-- Which of the tables of notes there are.
SELECT name AS table_name FROM system.tables WHERE database = currentDatabase() AND name IN ('reshard', 'reshard_done')
