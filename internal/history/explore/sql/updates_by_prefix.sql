-- The newest updates whose id, or the hash of whose external transaction, begins with some text. Ids are in no
-- order: so many rows are looked at, and no longer than that.
SELECT update_id, kind AS found_kind, record_time, external_transaction_hash AS hash
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
  AND (startsWith(update_id, {prefix:String}) OR startsWith(external_transaction_hash, {prefix:String}))
ORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC
LIMIT {limit:UInt32}
SETTINGS max_rows_to_read = 400000, read_overflow_mode = 'break', max_execution_time = 0.06, timeout_overflow_mode = 'break', max_threads = 1, enable_analyzer = 0
