-- The exercises of a choice at instants of one migration, ascending. The old analyzer, as for places.
SELECT stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
       package_name, created_at, signatories, observers, choice, interface_id, consuming,
       acting_parties, children, node_offset, witness_parties, acs_delta, last_descendant, extras,
       body_shape, body_scalars, body_ids, body_parties
FROM events
PREWHERE stream = {stream:String} AND migration_id = {migration:Int64}
     AND record_time IN {times:Array(DateTime64(6, 'UTC'))} AND choice = {choice:String}
ORDER BY stream, migration_id, record_time, update_id, node
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
