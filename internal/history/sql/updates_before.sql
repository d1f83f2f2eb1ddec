-- Updates of one synchronizer or of all, newest first.
SELECT stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
       external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
       reassignment_counter, contract_id, node_offset, command_id, paid_traffic_cost, trace_context, topology, extras
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND ({synchronizer:String} = '' OR synchronizer_id = {synchronizer:String})
  AND record_time < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
  AND record_time >= fromUnixTimestamp64Micro({at_or_after:Int64}, 'UTC')
ORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC
LIMIT {limit:UInt32}
