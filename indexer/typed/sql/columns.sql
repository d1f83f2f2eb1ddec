-- The columns of the typed tables, in their order. Two who plan at one time may both have written one.
SELECT table_name, number, column_name, column_type, path, written_at
FROM projection_columns
ORDER BY table_name, number, written_at
LIMIT 1 BY table_name, path
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
