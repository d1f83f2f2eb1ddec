-- Bytes of traffic that members of a synchronizer paid up to a record time of a migration,
-- those of earlier migrations included: whole days from the sums that each part keeps, and
-- the rows of the last day.
SELECT toUInt64(sum(cost)) AS n
FROM
(
    SELECT sum(traffic_cost) + countIf(traffic_cost < 0) AS cost
    FROM verdicts
    WHERE stream IN {streams:Array(String)} AND synchronizer_id = {synchronizer:String}
      AND submitting_participant_uid IN {members:Array(String)}
      AND (migration_id < {migration:Int64}
           OR migration_id = {migration:Int64} AND toDate(record_time) < toDate(fromUnixTimestamp64Micro({at:Int64}, 'UTC')))
    UNION ALL
    SELECT sumIf(traffic_cost, traffic_cost > 0) AS cost
    FROM verdicts
    WHERE stream IN {streams:Array(String)} AND migration_id = {migration:Int64}
      AND record_time >= toStartOfDay(fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND synchronizer_id = {synchronizer:String} AND submitting_participant_uid IN {members:Array(String)}
)
