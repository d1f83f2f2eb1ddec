-- The newest verdicts about updates whose id begins with some text, bounded as updates by prefix are.
SELECT update_id, record_time
FROM verdicts
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
  AND startsWith(update_id, {prefix:String})
ORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC
LIMIT {limit:UInt32}
SETTINGS max_rows_to_read = 400000, read_overflow_mode = 'break', max_execution_time = 0.06, timeout_overflow_mode = 'break', max_threads = 1, enable_analyzer = 0
