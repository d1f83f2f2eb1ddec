-- Where verdicts with some update ids stand, also those above the watermark, ascending. One
-- thread: a lookup reads little, and each further thread costs more than it saves.
SELECT migration_id, record_time, update_id
FROM verdicts
WHERE stream = {stream:String} AND update_id IN {ids:Array(String)}
ORDER BY migration_id, record_time, update_id
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread'
