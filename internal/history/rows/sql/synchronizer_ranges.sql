-- First and last record time per migration and synchronizer, of all rows, also those above
-- the watermark. It must stay in the form of projection "ranges", which answers it.
SELECT migration_id, synchronizer_id, min(record_time) AS first_time, max(record_time) AS last_time
FROM updates
WHERE stream = {stream:String}
GROUP BY stream, migration_id, synchronizer_id
ORDER BY migration_id, synchronizer_id
