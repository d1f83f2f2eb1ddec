-- The disks of the server that answers.
SELECT name, toInt64(free_space) AS free, toInt64(total_space) AS total
FROM system.disks
ORDER BY name
