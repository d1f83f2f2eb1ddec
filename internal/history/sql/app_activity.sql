-- Rows of app_activity between two positions of one migration, both inclusive.
SELECT stream, migration_id, record_time, update_id, round_number, records
FROM app_activity
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
