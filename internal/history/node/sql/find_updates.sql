-- Where updates of some kinds of a node's own stream are between two offsets, ascending.
SELECT node_offset
FROM updates
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND kind IN {kinds:Array(String)}
ORDER BY node_offset
LIMIT {limit:UInt32}
SETTINGS local_filesystem_read_method = 'pread'
