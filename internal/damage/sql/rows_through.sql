-- How many rows of a stream each table has up to a position, whatever is being written behind it.
-- The position has the offset 0 in public history, and a time before all history within imports.
-- Places do not tell updates of one record time apart: of those at the time of the position as many
-- count as there should be, if there are.
SELECT 'updates' AS table, count() AS n FROM updates
WHERE stream = {stream:String} AND if({offset:Int64} > 0, node_offset <= {offset:Int64},
    (migration_id, record_time, update_id) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'), {id:String}))
UNION ALL
SELECT 'events' AS table, count() AS n FROM events
WHERE stream = {stream:String} AND if({offset:Int64} > 0, node_offset <= {offset:Int64},
    (migration_id, record_time, update_id) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'), {id:String}))
UNION ALL
SELECT 'verdicts' AS table, count() AS n FROM verdicts
WHERE stream = {stream:String}
  AND (migration_id, record_time, update_id) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'), {id:String})
UNION ALL
SELECT 'places' AS table,
    greatest(countIf({offset:Int64} > 0 OR (migration_id, record_time) < ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))),
        least(count(), {places:UInt64})) AS n
FROM places
WHERE stream = {stream:String} AND if({offset:Int64} > 0, node_offset <= {offset:Int64},
    (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC')))
UNION ALL
SELECT 'imports' AS table, count() AS n FROM imports
WHERE stream = {stream:String} AND (migration_id < {migration:Int64}
    OR migration_id = {migration:Int64} AND (NOT {within_imports:Bool} OR update_id <= {id:String}))
