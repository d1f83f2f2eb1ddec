-- Published segments that overlap the record times after from and up to to. An
-- imports segment stands at one instant, which from, exclusive, must lie below.
SELECT stream, migration_id, segment_date, version, state, start_time, end_time,
       manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes,
       root, chain_link, lookup_index, lookup_objects
FROM
(
    SELECT *
    FROM segments
    WHERE stream = {stream:String} AND start_time < {to:Int64} AND end_time > {from:Int64}
    ORDER BY stream, migration_id, segment_date, version DESC, written_at DESC
    LIMIT 1 BY migration_id, segment_date
)
WHERE state = 'published'
ORDER BY migration_id, segment_date
