-- The latest row of one segment. Should two processes have given one version to different
-- rows, the later one counts, here and elsewhere.
SELECT stream, migration_id, segment_date, version, state, start_time, end_time,
       manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes,
       root, chain_link, lookup_index, lookup_objects
FROM segments
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND segment_date = {date:String}
ORDER BY version DESC, written_at DESC
LIMIT 1
