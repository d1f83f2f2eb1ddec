-- Like find_updates.sql, descending.
SELECT node_offset
FROM updates
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND kind IN {kinds:Array(String)}
ORDER BY node_offset DESC
LIMIT {limit:UInt32}
SETTINGS local_filesystem_read_method = 'pread'
