-- The constructors in the events of some shapes in a range of one migration's history: which scalars they are, from 1,
-- is told for each shape.
SELECT DISTINCT package_name, template_id, interface_id, choice, body_shape, CAST(cityHash64(body_shape), 'UInt64') AS shape,
       arrayMap(place -> splitByChar('\0', body_scalars)[toUInt32(place)],
                splitByChar(',', {places:Array(String)}[indexOf({shapes:Array(UInt64)}, cityHash64(body_shape))])) AS constructors
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND encoding = 'protobuf_json'
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
  AND cityHash64(body_shape) IN {shapes:Array(UInt64)}
