-- What is in which mining round, of the updates between two record times of one migration or more up to a position.
SELECT stream, round, party, migration_id, record_time, app_rewards, validator_rewards, traffic_bytes, traffic_purchases, traffic_spent, initial_change, rate_change
FROM round_entries
WHERE stream = {stream:String} AND migration_id >= {first_migration:Int64} AND migration_id <= {last_migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))
