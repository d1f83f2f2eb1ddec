-- The first update with an external transaction hash, at or below the watermark.
SELECT record_time, update_id
FROM updates
WHERE stream = {stream:String} AND external_transaction_hash = {hash:String}
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id
LIMIT 1
