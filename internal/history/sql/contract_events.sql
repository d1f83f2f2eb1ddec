-- The events of a contract over all migrations, in the order of history.
SELECT stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
       package_name, created_at, signatories, observers, choice, interface_id, consuming,
       acting_parties, children, node_offset, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND contract_id = {contract:String}
  AND (migration_id, record_time, update_id, node)
      > ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String}, {after_node:Int32})
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id, node
LIMIT {limit:UInt32}
