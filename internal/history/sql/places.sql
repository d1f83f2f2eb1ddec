-- Where updates or verdicts stand by their keys, also those above the watermark, in any order. One
-- thread: a lookup reads little, and each further thread costs more than it saves. The new analyzer
-- takes longer to plan such a query than the rest of it takes. The key is looked at first, and nothing
-- else is read of a part that does not have it.
SELECT place_key, migration_id, record_time
FROM places
PREWHERE place_key IN {keys:Array(UInt64)}
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
