-- The latest row of every segment of a stream, by migration and day; imports first.
-- Without what is large: the manifests and what describes the objects beside theirs.
-- Should two processes have given one version to different rows, the later one counts, here and elsewhere.
SELECT stream, migration_id, segment_date, version, state, start_time, end_time,
       manifest_key, manifest_sha256, '' AS manifest, object_count, total_rows, total_bytes,
       root, chain_link, '' AS lookup_index, lookup_objects, '' AS derived, derived_sha256
FROM segments
WHERE stream = {stream:String}
ORDER BY stream, migration_id, segment_date, version DESC, written_at DESC
LIMIT 1 BY migration_id, segment_date
