-- Like find_parties.sql, descending.
SELECT node_offset
FROM places
PREWHERE place_key IN {keys:Array(UInt64)}
WHERE node_offset > {after:Int64} AND node_offset <= {through:Int64}
ORDER BY node_offset DESC
LIMIT 1 BY node_offset
LIMIT {limit:UInt32}
SETTINGS use_uncompressed_cache = 1, max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
