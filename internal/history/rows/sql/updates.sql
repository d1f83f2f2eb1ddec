-- Updates of one migration in a range, ascending.
SELECT stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
       external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
       reassignment_counter, contract_id, node_offset, command_id, paid_traffic_cost, trace_context, topology, extras
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream, migration_id, record_time, update_id
LIMIT {limit:UInt32}
