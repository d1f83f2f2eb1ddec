-- Verdicts by update id, at or below the watermark.
SELECT stream, migration_id, record_time, update_id, synchronizer_id, finalization_time, submitting_parties,
       submitting_participant_uid, result, mediator_group, round_number, traffic_cost, traffic_envelopes, activity_round,
       activity_records, views_shape, views_scalars, views_ids, views_parties
FROM verdicts
WHERE stream = {stream:String} AND (migration_id, record_time) IN (
    SELECT migration_id, record_time
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)})
  AND update_id IN {ids:Array(String)}
  AND (migration_id, record_time, update_id)
      <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY migration_id, record_time, update_id
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
