-- Where verdicts of one migration in a range stand, ascending, with the hash of their row, which
-- is that of store.Verdicts, column by column in their order.
WITH
    (list -> arraySum(arrayMap((text, n) -> xxh3(text) * n, list, arrayEnumerate(list)))) AS list_hash,
    intHash64(intHash64(intHash64(intHash64(toUInt64(0) + toUInt64(migration_id)) + toUInt64(toUnixTimestamp64Micro(record_time))) + xxh3(update_id)) + xxh3(synchronizer_id)) AS hash_to_synchronizer,
    intHash64(intHash64(intHash64(hash_to_synchronizer + toUInt64(toUnixTimestamp64Micro(finalization_time))) + list_hash(submitting_parties)) + xxh3(submitting_participant_uid)) AS hash_to_participant,
    intHash64(intHash64(intHash64(hash_to_participant + xxh3(result)) + toUInt64(mediator_group)) + toUInt64(round_number)) AS hash_to_round,
    intHash64(intHash64(intHash64(intHash64(hash_to_round + toUInt64(traffic_cost)) + xxh3(traffic_envelopes)) + toUInt64(activity_round)) + xxh3(activity_records)) AS hash_to_records,
    intHash64(intHash64(intHash64(intHash64(hash_to_records + xxh3(views_shape)) + xxh3(views_scalars)) + list_hash(views_ids)) + list_hash(views_parties)) AS hash_to_all
SELECT migration_id, record_time, update_id, hash_to_all AS row_hash
FROM verdicts
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream, migration_id, record_time, update_id
-- Otherwise the columns would be sorted before they are hashed.
SETTINGS query_plan_execute_functions_after_sorting = 0
