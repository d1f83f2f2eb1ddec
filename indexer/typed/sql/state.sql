-- A number that is the same for the same typed tables.
SELECT groupBitXor(cityHash64(table_name, fill, written_at)) AS n
FROM projections
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
