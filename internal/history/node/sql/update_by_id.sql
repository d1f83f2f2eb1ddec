-- Where the update of a node's own stream with an id is. Others may be found with it: see table places.
SELECT node_offset
FROM places
PREWHERE place_key IN {keys:Array(UInt64)}
WHERE node_offset <= {through:Int64}
ORDER BY node_offset
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
