-- The latest row of every kind and folder of a stream, by start and kind. Without the
-- objects, which are large.
SELECT stream, kind, start_time, end_time, version, state, '' AS objects, object_count, total_rows, total_bytes
FROM
(
    SELECT *
    FROM network_folders
    WHERE stream = {stream:String}
    ORDER BY stream, kind, start_time, end_time, version DESC, written_at DESC
    LIMIT 1 BY kind, start_time, end_time
)
ORDER BY start_time, kind
