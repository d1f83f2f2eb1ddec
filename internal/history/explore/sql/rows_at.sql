-- What lists show of updates of one migration, by where they stand. The old analyzer, as for places.
SELECT record_time, update_id, kind AS update_kind, toInt64(length(root_events)) AS roots, CAST(arraySlice(root_events, 1, 4), 'Array(UInt32)') AS first_roots, contract_id,
       source_synchronizer AS from_synchronizer, target_synchronizer AS to_synchronizer
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time IN {times:Array(DateTime64(6, 'UTC'))}
  AND update_id IN {ids:Array(String)}
  AND ({kind:String} = '' OR kind = {kind:String})
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
