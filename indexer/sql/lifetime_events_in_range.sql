-- What begins or ends a lifetime in a range of one migration's history, in history
-- order: creates, consuming exercises and unassignments. An end has its contract id
-- only as body. One pass, because reading bodies is most of the work.
SELECT migration_id, record_time, update_id, node, toInt64(0) AS node_offset, kind, created_at, synchronizer_id, template_id, package_name, encoding,
       signatories, observers, body_shape, body_scalars, body_ids, body_parties
FROM
(
    SELECT migration_id, record_time, update_id, node, kind, created_at, synchronizer_id, template_id, package_name, encoding,
           signatories, observers, body_shape,
           if(kind = 'created', body_scalars, concat(substringIndex(body_scalars, '\0', 1), '\0')) AS body_scalars,
           if(kind = 'created', body_ids, arraySlice(body_ids, 1, 1)) AS body_ids, body_parties
    FROM events
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
      AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
      AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
      AND (kind = 'created' OR consuming)
    UNION ALL
    SELECT migration_id, record_time, update_id, toInt32(0) AS node, kind, record_time AS created_at, synchronizer_id,
           toLowCardinality('') AS template_id, toLowCardinality('') AS package_name, encoding,
           CAST([], 'Array(LowCardinality(String))') AS signatories, CAST([], 'Array(LowCardinality(String))') AS observers,
           toLowCardinality('\x03') AS body_shape, concat(contract_id, '\0') AS body_scalars, CAST([], 'Array(String)') AS body_ids, CAST([], 'Array(LowCardinality(String))') AS body_parties
    FROM updates
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
      AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
      AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
      AND kind = 'unassignment'
)
ORDER BY record_time, update_id, node
