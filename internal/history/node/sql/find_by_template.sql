-- Where updates of a node's own stream are of which an event has one of some templates, between
-- two offsets; direction is 1 or -1.
SELECT node_offset
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND template_id IN {templates:Array(String)}
ORDER BY node_offset * {direction:Int8}
LIMIT 1 BY node_offset
LIMIT {limit:UInt32}
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread'
