-- What was decided about updates of one migration, by where they stand.
SELECT update_id, result AS decision
FROM verdicts
WHERE stream IN {streams:Array(String)} AND migration_id = {migration:Int64}
  AND record_time IN {times:Array(DateTime64(6, 'UTC'))}
  AND update_id IN {ids:Array(String)}
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
