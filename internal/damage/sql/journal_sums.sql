-- What the journals say that the tables hold: for each stream the sums over its commits, and
-- how far it is committed and announced. A line that was written twice counts once. A mark, which
-- begins and ends at one position, stands for the numbers before it whose batches were taken back.
SELECT stream,
       uniqExactIf(sequence, state = 'commit') + sum(taken_back) AS batches, maxIf(sequence, state = 'commit') AS last, max(sequence) AS announced,
       countIf(state = 'commit' AND update_rows < 0 AND items + events > 0) AS uncounted,
       countIf(state = 'commit' AND place_rows < 0 AND items + events > 0) AS uncounted_places,
       sumIf(toInt64(events), state = 'commit') AS event_sum,
       sumIf(greatest(update_rows, 0), state = 'commit') AS update_sum,
       sumIf(greatest(import_rows, 0), state = 'commit') AS import_sum,
       sumIf(greatest(verdict_rows, 0), state = 'commit') AS verdict_sum,
       sumIf(greatest(place_rows, 0), state = 'commit') AS place_sum,
       sumIf(greatest(lifetime_rows, 0), state = 'commit') AS lifetime_sum,
       argMaxIf(through_migration, sequence, state = 'commit') AS migration, argMaxIf(through_time, sequence, state = 'commit') AS time,
       argMaxIf(through_id, sequence, state = 'commit') AS id, argMaxIf(through_offset, sequence, state = 'commit') AS offset
FROM
(
    SELECT *,
        if(state = 'commit' AND (after_migration, after_time, after_id, after_offset) = (through_migration, through_time, through_id, through_offset),
            sequence - 1 - maxIf(sequence, state = 'commit') OVER (PARTITION BY stream ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
            0) AS taken_back
    FROM
    (
        SELECT * FROM batches
        WHERE state IN ('intent', 'commit') AND sequence <= {sequence:Int64} AND ({stream:String} = '' OR stream = {stream:String})
        LIMIT 1 BY stream, sequence, state
    )
)
GROUP BY stream
ORDER BY stream
