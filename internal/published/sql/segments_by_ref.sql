-- The latest rows of given segments: element i of migrations and of dates name one.
SELECT stream, migration_id, segment_date, version, state, start_time, end_time,
       manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes,
       root, chain_link, lookup_index, lookup_objects, derived, derived_sha256
FROM segments
WHERE stream = {stream:String} AND (migration_id, segment_date) IN
(
    SELECT migration, date
    FROM system.one
    ARRAY JOIN {migrations:Array(Int64)} AS migration, {dates:Array(String)} AS date
)
ORDER BY stream, migration_id, segment_date, version DESC, written_at DESC
LIMIT 1 BY migration_id, segment_date
