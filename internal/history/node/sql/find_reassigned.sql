-- Like find_events.sql, of updates of some kinds.
SELECT node_offset
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND (template_id IN {templates:Array(String)}) = notEmpty({templates:Array(String)})
  AND indexHint(empty({parties:Array(String)}) OR hasAny(witness_parties, {parties:Array(String)}))
  AND (empty({parties:Array(String)}) OR arrayExists(p -> p IN {parties:Array(String)}, witness_parties))
  AND node_offset IN (
    SELECT node_offset
    FROM updates
    WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
      AND kind IN {kinds:Array(String)})
ORDER BY node_offset * {direction:Int8}
LIMIT 1 BY node_offset
LIMIT {limit:UInt32}
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread'
