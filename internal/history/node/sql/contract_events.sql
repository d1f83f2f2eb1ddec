-- The first event that created a contract on a node's own stream, and the one that ended it.
SELECT node_offset, node, kind, event_id, template_id, package_name, created_at, signatories, observers, choice,
       interface_id, consuming, acting_parties, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
PREWHERE stream = {stream:String} AND node_offset IN (
    SELECT node_offset
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)}
    WHERE node_offset <= {through:Int64})
WHERE contract_id = {contract:String}
  AND (kind = 'created' OR kind = 'exercised' AND consuming)
ORDER BY node_offset, node
LIMIT 1 BY kind
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, max_threads = 1, enable_analyzer = 0
