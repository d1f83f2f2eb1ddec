-- The events of a node's own stream between two offsets, ascending.
SELECT node_offset, node, kind, event_id, template_id, package_name, created_at, signatories, observers, choice,
       interface_id, consuming, acting_parties, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
ORDER BY node_offset, node
SETTINGS local_filesystem_read_method = 'pread'
