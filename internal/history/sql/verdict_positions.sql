-- Where the verdicts of one migration stand in a range, ascending.
SELECT record_time, update_id
FROM verdicts
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream, migration_id, record_time, update_id
LIMIT {limit:UInt32}
