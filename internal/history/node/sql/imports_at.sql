-- Contracts that a node's own stream began with, by id.
SELECT stream, migration_id, update_id, synchronizer_id, encoding, workflow_id, effective_at, event_id, contract_id,
       template_id, package_name, created_at, signatories, observers, node_offset, witness_parties, extras,
       argument_shape, argument_scalars, argument_ids, argument_parties
FROM imports
WHERE stream = {stream:String} AND update_id IN {ids:Array(String)}
ORDER BY update_id
SETTINGS use_uncompressed_cache = 1, max_threads = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, enable_analyzer = 0
