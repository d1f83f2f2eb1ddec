-- How many rows of each table stand above a position, of places above its record time. Verdicts have
-- no offsets.
SELECT table, n FROM
(
    SELECT 'updates' AS table, count() AS n FROM updates
    WHERE stream = {stream:String} AND ({through_offset:Int64} > 0 AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
      OR {through_offset:Int64} <= 0 AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
      AND ({within_imports:Bool} OR record_time >= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC') AND (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})))))
    UNION ALL
    SELECT 'events' AS table, count() AS n FROM events
    WHERE stream = {stream:String} AND ({through_offset:Int64} > 0 AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
      OR {through_offset:Int64} <= 0 AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
      AND ({within_imports:Bool} OR record_time >= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC') AND (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})))))
    UNION ALL
    SELECT 'places' AS table, count() AS n FROM places
    WHERE stream = {stream:String} AND ({through_offset:Int64} > 0 AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
      OR {through_offset:Int64} <= 0 AND (migration_id, record_time) > ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))
    UNION ALL
    SELECT 'verdicts' AS table, count() AS n FROM verdicts
    WHERE stream = {stream:String} AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
      AND ({within_imports:Bool} OR record_time >= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC') AND (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))))
    UNION ALL
    SELECT 'imports' AS table, count() AS n FROM imports
    WHERE stream = {stream:String} AND (node_offset > {through_offset:Int64} AND {through_offset:Int64} > 0
      OR migration_id > {through_migration:Int64}
      OR (migration_id = {through_migration:Int64} AND {within_imports:Bool} AND update_id > {through_id:String}))
)
WHERE n > 0
ORDER BY table
