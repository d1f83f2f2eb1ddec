-- Verdicts of one migration in a range, ascending.
SELECT stream, migration_id, record_time, update_id, synchronizer_id, finalization_time, submitting_parties,
       submitting_participant_uid, result, mediator_group, round_number, traffic_cost, traffic_envelopes, activity_round,
       activity_records, views_shape, views_scalars, views_ids, views_parties
FROM verdicts
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream, migration_id, record_time, update_id
LIMIT {limit:UInt32}
