-- What a party minted up to an instant, by class.
SELECT class, sum(amount) AS minted, toInt64(count()) AS times
FROM movements
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC') AND cause = 'mint'
GROUP BY class
ORDER BY minted DESC, class
