-- The shapes of events in a range of one migration's history, with their templates and choices. Grouped by a number:
-- shapes are long, and their numbers are computed once for each of a dictionary.
SELECT package_name, template_id, interface_id, choice, toLowCardinality(any(e.body_shape)) AS body_shape, CAST(cityHash64(e.body_shape), 'UInt64') AS shape,
       CAST([], 'Array(String)') AS constructors
FROM events AS e
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND encoding = 'protobuf_json'
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
GROUP BY package_name, template_id, interface_id, choice, shape
