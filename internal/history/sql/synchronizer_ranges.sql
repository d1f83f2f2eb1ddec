-- First and last record time per migration and synchronizer, up to the watermark.
SELECT migration_id, synchronizer_id, min(record_time) AS first_time, max(record_time) AS last_time
FROM updates
WHERE stream = {stream:String}
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
GROUP BY migration_id, synchronizer_id
ORDER BY migration_id, synchronizer_id
