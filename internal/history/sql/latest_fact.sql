-- The latest answer to an operation with some arguments. The old analyzer, as for the watermark.
SELECT stream, operation, arguments, valid_from, fetched_at, upstream, sha256, body
FROM network_facts
WHERE stream = {stream:String} AND operation = {operation:String} AND arguments = {arguments:String}
ORDER BY valid_from DESC, fetched_at DESC
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
