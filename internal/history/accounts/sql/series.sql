-- What a party holds of an instrument at the end of each stretch of some hours in which that changes, from the
-- openings, which stand in year 1900, on.
SELECT max(hour) AS start, argMax(unlocked, (migration_id, hour)) AS free, argMax(locked, (migration_id, hour)) AS bound
FROM balance_hours
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, hour) < ({closed_migration:Int64}, fromUnixTimestamp64Micro({closed_time:Int64}, 'UTC'))
  AND hour <= fromUnixTimestamp64Micro({last:Int64}, 'UTC')
GROUP BY intDiv(toUnixTimestamp64Micro(hour), {stretch:Int64})
ORDER BY start
LIMIT 2000
