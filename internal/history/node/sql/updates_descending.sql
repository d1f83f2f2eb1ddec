-- Like updates.sql, descending.
SELECT stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
       external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
       reassignment_counter, contract_id, node_offset, command_id, paid_traffic_cost, trace_context, topology, extras
FROM updates
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND kind IN {kinds:Array(String)}
ORDER BY node_offset DESC
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
