-- Where the last commit of a stream ends. Nothing is asked more often: it reads no more columns than
-- it must, and the old analyzer plans it in two thirds of the time.
SELECT through_migration, through_time, through_id, through_offset
FROM batches
WHERE stream = {stream:String} AND state = 'commit'
ORDER BY sequence DESC
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
