-- How many rows of a stream each table has up to a position, whatever is being written behind it.
-- The position has the offset 0 in public history, and a time before all history within imports.
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
SELECT 'party_offsets' AS table, count() AS n FROM party_offsets
WHERE stream = {stream:String} AND node_offset <= {offset:Int64}
UNION ALL
SELECT 'imports' AS table, count() AS n FROM imports
WHERE stream = {stream:String} AND (migration_id < {migration:Int64}
    OR migration_id = {migration:Int64} AND (NOT {within_imports:Bool} OR update_id <= {id:String}))
