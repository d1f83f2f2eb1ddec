-- The hours in which batches of a stream end, after a position and up to another one, without imports.
SELECT through_migration AS migration, intDiv(through_time - 1, 3600000000) * 3600000000 AS hour, sum(items) AS all_items, sum(events) AS all_events
FROM batches
WHERE stream = {stream:String} AND state = 'commit' AND through_time != {imports:Int64}
  AND (through_migration, through_time, through_id) > ({migration:Int64}, {time:Int64}, {id:String})
  AND (through_migration, through_time, through_id) <= ({last_migration:Int64}, {last_time:Int64}, {last_id:String})
GROUP BY migration, hour
ORDER BY migration, hour
LIMIT 10000
