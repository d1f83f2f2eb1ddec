-- Where updates of one migration stand between two positions, both exclusive. Without an order and a
-- limit, which the caller appends.
SELECT record_time, update_id
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) < (fromUnixTimestamp64Micro({until_time:Int64}, 'UTC'), {until_id:String})
  AND ({kind:String} = '' OR kind = {kind:String})
