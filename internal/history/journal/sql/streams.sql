-- How each stream stands: its last commit, and the sums over all commits.
SELECT stream, toInt64(countIf((after_migration, after_time, after_id, after_offset) != (b.through_migration, b.through_time, b.through_id, b.through_offset))) AS sequence, sum(items) AS all_items, sum(events) AS all_events,
       argMax(b.through_migration, b.sequence) AS migration, argMax(b.through_time, b.sequence) AS time,
       argMax(b.through_id, b.sequence) AS id, argMax(b.through_offset, b.sequence) AS offset, max(written_at) AS last_written
FROM batches AS b
WHERE state = 'commit'
GROUP BY stream
ORDER BY stream
