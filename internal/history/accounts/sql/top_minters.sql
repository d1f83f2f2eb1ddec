-- Who minted most by some classes in a stretch of time; from is exclusive.
SELECT party, sum(amount) AS minted, toInt64(count()) AS times
FROM movements
WHERE stream = {stream:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time > fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND cause = 'mint' AND class IN {classes:Array(String)}
GROUP BY party
ORDER BY minted DESC, party
LIMIT {limit:UInt32}
