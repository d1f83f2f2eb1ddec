-- The last note of each partition, the oldest first.
SELECT max(n.step) AS step, table_name, partition_id, argMax(n.attempt, n.step) AS attempt, argMax(n.source_shard, n.step) AS source_shard,
       argMax(n.copied, n.step) AS copied, argMax(n.piece_rows, n.step) AS piece_rows, argMax(n.done, n.step) AS done
FROM reshard AS n
GROUP BY table_name, partition_id
ORDER BY step
