-- The typed tables, each as it was written last.
SELECT table_name, kind, package_name, entity, choice, fill, shape, written_at
FROM projections
ORDER BY table_name, written_at DESC
LIMIT 1 BY table_name
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
