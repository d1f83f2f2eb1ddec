-- The unassignments of a contract over all migrations, in the order of history.
SELECT stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
       external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
       reassignment_counter, contract_id, node_offset, command_id, paid_traffic_cost, trace_context, topology, extras
FROM updates
PREWHERE stream = {stream:String} AND (migration_id, record_time) IN (
    SELECT migration_id, record_time
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)}
    WHERE (migration_id, record_time) >= ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'))
      AND (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'))
    ORDER BY migration_id, record_time
    LIMIT {most:UInt32})
WHERE contract_id = {contract:String} AND kind = 'unassignment'
  AND (migration_id, record_time, update_id)
      > ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
