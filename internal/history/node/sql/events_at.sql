-- The events of a node's own stream at some offsets, ascending.
SELECT node_offset, node, kind, event_id, template_id, package_name, created_at, signatories, observers, choice,
       interface_id, consuming, acting_parties, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND node_offset IN {offsets:Array(Int64)}
ORDER BY node_offset, node
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, enable_analyzer = 0
