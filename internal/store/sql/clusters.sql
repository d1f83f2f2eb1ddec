-- The servers of all clusters that a server knows, replicas of one shard together.
SELECT cluster, shard_num, toUInt32(shard_weight) AS weight, host_name, toUInt32(port) AS port
FROM system.clusters
ORDER BY cluster, shard_num, replica_num
