-- Goes on from event_sums.sql: the events of the updates between two positions of one migration,
-- both inclusive. One thread reads parts in their order, which nearly always is that of the sort
-- key: sorting would cost a fifth more. Who reads them looks whether they are in order.
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
SETTINGS max_threads = 1, max_block_size = 32768
