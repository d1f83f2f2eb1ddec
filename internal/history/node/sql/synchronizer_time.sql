-- The last record time of one synchronizer at or below an offset of a node's own stream;
-- no row if it has none. Record times of one synchronizer grow with the offset.
SELECT migration_id, synchronizer_id, record_time AS first_time, record_time AS last_time
FROM updates
WHERE stream = {stream:String} AND synchronizer_id = {synchronizer:String} AND node_offset <= {through:Int64}
ORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
