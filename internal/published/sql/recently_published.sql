-- For each pipeline that published something in the last {seconds} seconds: how much, and
-- how many seconds ago the first of it was.
SELECT pipeline, count() AS published, dateDiff('millisecond', min(at), now64(6, 'UTC')) / 1000. AS seconds
FROM
(
    SELECT 'parquet' AS pipeline, written_at AS at
    FROM segments
    WHERE stream = {stream:String} AND state = 'published'
    UNION ALL
    SELECT concat('network_', lower(kind)) AS pipeline, written_at AS at
    FROM network_folders
    WHERE stream = {stream:String} AND state = 'published'
)
WHERE at > now64(6, 'UTC') - toIntervalSecond({seconds:UInt32})
GROUP BY pipeline
