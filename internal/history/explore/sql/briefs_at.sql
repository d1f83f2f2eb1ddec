-- The first events of updates of one migration, without values.
SELECT record_time, update_id, node, kind AS event_kind, package_name AS package, template_id AS template_of,
       choice AS choice_of, consuming, if(kind = 'created' AND startsWith(body_shape, '\x01'), lower(hex(body_ids[1])), '') AS contract,
       CAST(arraySlice(if(kind = 'created', arrayConcat(signatories, observers), acting_parties), 1, {parties:UInt32}), 'Array(String)') AS parties_of
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time IN {times:Array(DateTime64(6, 'UTC'))}
  AND update_id IN {ids:Array(String)}
ORDER BY stream, migration_id, record_time, update_id, node
LIMIT {most:UInt32} BY record_time, update_id
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
