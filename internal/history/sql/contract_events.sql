-- The events of a contract over all migrations, in the order of history.
SELECT stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
       package_name, created_at, signatories, observers, choice, interface_id, consuming,
       acting_parties, children, node_offset, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
PREWHERE stream = {stream:String} AND (migration_id, record_time) IN (
    SELECT migration_id, record_time
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)}
    WHERE (migration_id, record_time) >= ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'))
      AND (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'))
    ORDER BY migration_id, record_time
    LIMIT {most:UInt32})
WHERE contract_id = {contract:String}
  AND (migration_id, record_time, update_id, node)
      > ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String}, {after_node:Int32})
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id, node
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
