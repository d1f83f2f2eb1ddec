-- What a party holds of each instrument at an instant, and when that changed first and last.
SELECT instrument,
       sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked,
       min(record_time) AS first, max(record_time) AS last, toInt64(count()) AS movements
FROM movements
WHERE stream = {stream:String} AND party = {party:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
GROUP BY instrument
ORDER BY unlocked + locked DESC, instrument
LIMIT 100
