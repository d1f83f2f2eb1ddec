-- The scalars of the events of some shapes in a range of one migration's history.
SELECT DISTINCT package_name, template_id, interface_id, choice, body_shape, CAST(cityHash64(body_shape), 'UInt64') AS shape, body_scalars
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND encoding = 'protobuf_json'
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
  AND cityHash64(body_shape) IN {shapes:Array(UInt64)}
