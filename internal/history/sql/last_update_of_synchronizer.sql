-- The last record time of one synchronizer in a migration at or below the watermark; no row
-- if it has none.
SELECT migration_id, synchronizer_id, record_time AS first_time, record_time AS last_time
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND synchronizer_id = {synchronizer:String}
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC
LIMIT 1
