-- The offset of the last commit of what is derived for wallets, 0 as long as it stands within
-- the contracts that the stream began with, or before them.
SELECT if(through_time = {imported:Int64}, 0, through_offset) AS node_offset
FROM batches
WHERE stream = {stream:String} AND state = 'commit'
ORDER BY sequence DESC
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
