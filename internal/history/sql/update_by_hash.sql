-- The first update with an external transaction hash, at or below the watermark.
SELECT record_time, update_id
FROM updates
WHERE stream = {stream:String} AND (migration_id, record_time) IN (
    SELECT migration_id, record_time
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)})
  AND external_transaction_hash = {hash:String}
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id
LIMIT 1
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
