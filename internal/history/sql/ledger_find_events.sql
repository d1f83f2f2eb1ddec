-- Where updates of a node's own stream are of which an event matches, between two offsets,
-- in the direction that the reader puts in, like what is to match.
SELECT node_offset
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND (/* match */)
ORDER BY node_offset /* direction */
LIMIT 1 BY node_offset
LIMIT {limit:UInt32}
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread'
