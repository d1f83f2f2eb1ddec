-- The partitions of all tables of a database. What lightweight updates have written beside a partition
-- is part of it.
SELECT table AS table_name, partition_id, sum(rows) AS part_rows, sum(bytes_on_disk) AS part_bytes,
       sum(data_uncompressed_bytes) AS part_size
FROM system.parts
WHERE database = currentDatabase() AND active AND NOT startsWith(partition_id, 'patch-')
GROUP BY table, partition_id
ORDER BY table, partition_id
