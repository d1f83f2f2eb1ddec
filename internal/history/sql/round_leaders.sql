-- The parties with most of something up to a mining round, from the first.
SELECT of_round, of_party, app, validator, bytes, purchases, spent, initial, rate, last_purchase
FROM
(
    SELECT {last:Int64} AS of_round, party AS of_party, sum(app_rewards) AS app, sum(validator_rewards) AS validator, sum(traffic_bytes) AS bytes,
           sum(traffic_purchases) AS purchases, sum(traffic_spent) AS spent, sum(initial_change) AS initial, sum(rate_change) AS rate,
           maxIf(round, traffic_purchases > 0) AS last_purchase,
           multiIf({by:String} = 'app_rewards', app, {by:String} = 'validator_rewards', validator, CAST(bytes, 'Decimal(38, 10)')) AS most
    FROM round_entries
    WHERE stream = {stream:String} AND round <= {last:Int64}
      AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))
    GROUP BY party
)
WHERE most > 0
ORDER BY most DESC, of_party DESC
LIMIT {limit:UInt32}
