-- The latest row of one segment.
SELECT stream, migration_id, segment_date, version, state, start_time, end_time,
       manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes
FROM segments
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND segment_date = {date:String}
ORDER BY version DESC
LIMIT 1
