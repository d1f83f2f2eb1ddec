-- The latest rows of given kinds and folders, by start and kind: element i of kinds, starts
-- and ends name one.
SELECT stream, kind, start_time, end_time, version, state, objects, object_count, total_rows, total_bytes
FROM
(
    SELECT *
    FROM network_folders
    WHERE stream = {stream:String} AND (kind, start_time, end_time) IN
    (
        SELECT k, s, e
        FROM system.one
        ARRAY JOIN {kinds:Array(String)} AS k, {starts:Array(Int64)} AS s, {ends:Array(Int64)} AS e
    )
    ORDER BY stream, kind, start_time, end_time, version DESC, written_at DESC
    LIMIT 1 BY kind, start_time, end_time
)
ORDER BY start_time, kind
