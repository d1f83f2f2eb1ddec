-- Parts that tables do not read: the engine found them broken, or somebody set them aside.
SELECT ifNull(table, '') AS table, name, ifNull(reason, '') AS reason
FROM system.detached_parts
WHERE database = currentDatabase() AND ifNull(reason, '') NOT IN ('ignored', 'attaching', 'deleting')
ORDER BY table, name
