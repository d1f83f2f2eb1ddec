-- What each party that has something in some mining rounds has in them, by party and round; all before the first round
-- are one.
SELECT greatest(round, {first:Int64} - 1) AS of_round, party AS of_party, sum(app_rewards) AS app, sum(validator_rewards) AS validator, sum(traffic_bytes) AS bytes,
       sum(traffic_purchases) AS purchases, sum(traffic_spent) AS spent, sum(initial_change) AS initial, sum(rate_change) AS rate, toInt64(0) AS last_purchase
FROM round_entries
WHERE stream = {stream:String} AND round <= {last:Int64}
  AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))
  AND party GLOBAL IN
  (
      SELECT DISTINCT party FROM round_entries
      WHERE stream = {stream:String} AND round >= {first:Int64} AND round <= {last:Int64}
        AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))
  )
GROUP BY of_round, party
ORDER BY party, of_round
LIMIT {limit:UInt32}
