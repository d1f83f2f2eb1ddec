-- What runs in the background: merges, and mutations that are not done.
SELECT table AS name, if(is_mutation, 'mutation', 'merge') AS kind, toFloat64(elapsed) AS seconds, toFloat64(progress) AS progress, '' AS problem
FROM system.merges
WHERE database = currentDatabase()
UNION ALL
SELECT table AS name, 'mutation waits' AS kind, toFloat64(dateDiff('second', create_time, now())) AS seconds, toFloat64(0) AS progress, latest_fail_reason AS problem
FROM system.mutations
WHERE database = currentDatabase() AND NOT is_done
ORDER BY seconds DESC
LIMIT 50
