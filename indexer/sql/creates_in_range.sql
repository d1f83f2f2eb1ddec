-- The creating events of one migration's history in a range, in history order.
SELECT created_at, contract_id, update_id AS created_in, template_id, package_name, encoding, argument, signatories, observers,
       migration_id, record_time AS created_time, synchronizer_id, node
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND kind = 'created'
ORDER BY record_time, update_id, node
