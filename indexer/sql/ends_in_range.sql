-- The ends of lifetimes in a range: consuming exercises and unassignments.
SELECT contract_id, archived_at, update_id, node
FROM
(
    SELECT contract_id, record_time AS archived_at, update_id, node
    FROM events
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
      AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
      AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
      AND kind = 'exercised' AND consuming
    UNION ALL
    SELECT contract_id, record_time AS archived_at, update_id, toInt32(0) AS node
    FROM updates
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
      AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
      AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
      AND kind = 'unassignment'
)
ORDER BY archived_at, update_id, node
