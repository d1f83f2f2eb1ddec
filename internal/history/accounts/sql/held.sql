-- What a party holds of an instrument before an instant.
SELECT sum(amount) AS held
FROM movements
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time < fromUnixTimestamp64Micro({from:Int64}, 'UTC')
