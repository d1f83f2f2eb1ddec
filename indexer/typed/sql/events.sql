-- The events of contracts of some templates, and the exercises of some interfaces, in a range of one
-- migration's history. Where the columns of names have none of these, no other is read.
SELECT stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
       package_name, created_at, signatories, observers, choice, interface_id, consuming,
       acting_parties, children, node_offset, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
PREWHERE package_name IN {packages:Array(String)} AND substringIndex(template_id, ':', -2) IN {entities:Array(String)}
      OR interface_id != '' AND substringIndex(interface_id, ':', -2) IN {interfaces:Array(String)}
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
ORDER BY stream, migration_id, record_time, update_id, node
