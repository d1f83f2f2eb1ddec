-- Like update_places.sql, of verdicts.
SELECT place_key, migration_id, record_time
FROM places
PREWHERE place_key IN {keys:Array(UInt64)}
WHERE stream = {stream:String} AND kind = 'verdict'
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
