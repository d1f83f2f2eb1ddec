-- What movements add up to in each hour of a range of one migration.
SELECT {stream:String} AS stream, {migration:Int64} AS migration_id, hour, round, instrument, pocket, cause, class, purpose,
       sum(change) AS amount, toInt64(count()) AS movements, toInt64(countIf(paid)) AS transfers, sumIf(change, paid) AS volume
FROM
(
    SELECT fromUnixTimestamp64Micro(intDiv(toUnixTimestamp64Micro(record_time) - 1, 3600000000) * 3600000000, 'UTC') AS hour,
           round, instrument, pocket, cause, class, purpose, amount AS change,
           cause = 'transfer' AND change > 0 AND party != counterparty AS paid
    FROM {readers:Identifier}.movements
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
)
GROUP BY hour, round, instrument, pocket, cause, class, purpose
ORDER BY hour, round, instrument, pocket, cause, class, purpose
