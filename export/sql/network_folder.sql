-- The latest row of one kind of object in one folder.
SELECT stream, kind, start_time, end_time, version, state, objects, object_count, total_rows, total_bytes
FROM network_folders
WHERE stream = {stream:String} AND kind = {kind:String} AND start_time = {start:Int64} AND end_time = {end:Int64}
ORDER BY version DESC, written_at DESC
LIMIT 1
