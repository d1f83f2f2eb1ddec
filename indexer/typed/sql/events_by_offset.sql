-- The same between two offsets of a node's own stream, both inclusive.
SELECT stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
       package_name, created_at, signatories, observers, choice, interface_id, consuming,
       acting_parties, children, node_offset, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
PREWHERE package_name IN {packages:Array(String)} AND substringIndex(template_id, ':', -2) IN {entities:Array(String)}
      OR interface_id != '' AND substringIndex(interface_id, ':', -2) IN {interfaces:Array(String)}
WHERE stream = {stream:String} AND node_offset >= {first:Int64} AND node_offset <= {last:Int64}
ORDER BY node_offset, node
