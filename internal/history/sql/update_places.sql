-- Where updates with some update ids stand, also those above the watermark, ascending. One
-- thread: a lookup reads little, and each further thread costs more than it saves.
-- Filters are asked before anything is read, as nearly no part has what is looked for; the
-- new analyzer takes longer to plan such a query than the rest of it takes.
SELECT migration_id, record_time, update_id
FROM updates
WHERE stream = {stream:String} AND update_id IN {ids:Array(String)}
ORDER BY migration_id, record_time, update_id
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, enable_analyzer = 0
