-- Record times of one migration between two, both inclusive, at which there may be updates with events of a
-- party: see table places. Without an order and a limit, which the caller appends.
SELECT record_time
FROM places
PREWHERE place_key = {key:UInt64}
WHERE node_offset = 0 AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
