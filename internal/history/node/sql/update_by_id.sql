-- The update of a node's own stream with an id.
SELECT stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
       external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
       reassignment_counter, contract_id, node_offset, command_id, paid_traffic_cost, trace_context, topology, extras
FROM updates
WHERE stream = {stream:String} AND update_id = {id:String} AND node_offset <= {through:Int64}
LIMIT 1
SETTINGS use_uncompressed_cache = 1, max_threads = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, enable_analyzer = 0
