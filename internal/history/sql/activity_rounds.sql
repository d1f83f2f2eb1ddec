-- The first and the last round of which there is app activity up to a record time of a
-- migration: whole days from what each part keeps, and the rows of the last day. No rows
-- if there is none.
SELECT min(low) AS first, max(high) AS last
FROM
(
    SELECT min(if(activity_round < 0, 9223372036854775807, activity_round)) AS low, max(activity_round) AS high
    FROM verdicts
    WHERE stream IN {streams:Array(String)}
      AND (migration_id < {migration:Int64}
           OR migration_id = {migration:Int64} AND toDate(record_time) < toDate(fromUnixTimestamp64Micro({at:Int64}, 'UTC')))
    HAVING count() > 0
    UNION ALL
    SELECT min(if(activity_round < 0, 9223372036854775807, activity_round)) AS low, max(activity_round) AS high
    FROM verdicts
    WHERE stream IN {streams:Array(String)} AND migration_id = {migration:Int64}
      AND record_time >= toStartOfDay(fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
    HAVING count() > 0
)
HAVING count() > 0 AND last >= 0
