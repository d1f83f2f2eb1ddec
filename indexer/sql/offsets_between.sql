-- The first and the last offset that a node's own stream has in a range of record times, at or below an
-- offset; 0 if there is none.
SELECT min(node_offset) AS first_offset, max(node_offset) AS last_offset
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND node_offset <= {mark_offset:Int64}
  AND record_time >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND record_time < fromUnixTimestamp64Micro({to:Int64}, 'UTC')
