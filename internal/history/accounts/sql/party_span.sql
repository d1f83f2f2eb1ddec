-- The first and the last record time up to an instant at which a party signs, observes or acts in an event. Both are at
-- an end of what the key of the table leads to.
SELECT record_time
FROM
(
    SELECT record_time FROM places
    WHERE place_key = {key:UInt64} AND node_offset = 0 AND (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'))
      AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
    ORDER BY place_key, node_offset, migration_id, record_time LIMIT 1
    UNION ALL
    SELECT record_time FROM places
    WHERE place_key = {key:UInt64} AND node_offset = 0 AND (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'))
      AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
    ORDER BY place_key DESC, node_offset DESC, migration_id DESC, record_time DESC LIMIT 1
)
ORDER BY record_time
