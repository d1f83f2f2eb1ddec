-- The movements up to a position, by hour. What is behind it may be being written.
SELECT fromUnixTimestamp64Micro(intDiv(toUnixTimestamp64Micro(record_time) - 1, 3600000000) * 3600000000, 'UTC') AS hour, round, party, counterparty, cause, class, amount
FROM movements
WHERE stream = {stream:String} AND (migration_id, record_time, update_id) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'), {id:String})
