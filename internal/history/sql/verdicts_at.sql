-- Verdicts of one migration by where they stand, ascending. The old analyzer, as for places.
SELECT stream, migration_id, record_time, update_id, synchronizer_id, finalization_time, submitting_parties,
       submitting_participant_uid, result, mediator_group, round_number, traffic_cost, traffic_envelopes, activity_round,
       activity_records, views_shape, views_scalars, views_ids, views_parties
FROM verdicts
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time IN {times:Array(DateTime64(6, 'UTC'))}
  AND update_id IN {ids:Array(String)}
ORDER BY stream, migration_id, record_time, update_id
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
