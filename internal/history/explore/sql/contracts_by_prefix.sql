-- The newest contracts whose id begins with some text, bounded as updates by prefix are.
SELECT contract_id, template AS template_of, created_at
FROM {table:Identifier}
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND created_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
  AND startsWith(contract_id, {prefix:String})
ORDER BY stream DESC, migration_id DESC, created_at DESC, contract_id DESC
LIMIT {limit:UInt32}
SETTINGS max_rows_to_read = 300000, read_overflow_mode = 'break', max_execution_time = 0.06, timeout_overflow_mode = 'break', max_threads = 1, enable_analyzer = 0
