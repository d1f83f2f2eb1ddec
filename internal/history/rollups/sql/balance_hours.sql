-- What parties hold at the end of each hour of a range of one migration in which their holdings move. What they held
-- before it is in the table. On a cluster the rows of a party are on the shard of its movements.
WITH
    changes AS (
        SELECT party, instrument, hour, sumIf(change, pocket = 'unlocked') AS freed, sumIf(change, pocket = 'locked') AS bound
        FROM
        (
            SELECT fromUnixTimestamp64Micro(intDiv(toUnixTimestamp64Micro(record_time) - 1, 3600000000) * 3600000000, 'UTC') AS hour,
                   toString(party) AS party, toString(instrument) AS instrument, pocket, amount AS change
            FROM movements
            WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND xxHash64(party) % {shards:UInt64} = {shard:UInt64}
              AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
        )
        GROUP BY party, instrument, hour),
    earlier AS (
        SELECT toString(party) AS party, toString(instrument) AS instrument, count() AS hours,
               argMax(unlocked, (migration_id, hour)) AS freed_before, argMax(locked, (migration_id, hour)) AS bound_before
        FROM balance_hours
        WHERE stream = {stream:String} AND (migration_id, hour) < ({migration:Int64}, fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') - toIntervalMicrosecond(1))
          AND party IN (SELECT party FROM changes)
        GROUP BY party, instrument)
SELECT {stream:String} AS stream, c.party AS party, c.instrument AS instrument, {migration:Int64} AS migration_id, c.hour AS hour,
       freed_before + sum(freed) OVER so_far AS unlocked, bound_before + sum(bound) OVER so_far AS locked,
       unlocked + locked - freed - bound AS held_before, toBool(hours = 0 AND row_number() OVER so_far = 1) AS first
FROM changes AS c
LEFT JOIN earlier AS e ON e.party = c.party AND e.instrument = c.instrument
WINDOW so_far AS (PARTITION BY c.party, c.instrument ORDER BY c.hour ROWS UNBOUNDED PRECEDING)
ORDER BY party, instrument, hour
