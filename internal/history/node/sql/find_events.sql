-- Where updates of a node's own stream are, between two offsets, of which an event has one of some
-- parties as a witness if there are any, and one of some templates if there are any; direction is 1
-- or -1. The hint lets the engine skip granules by its filter of parties, which it does not see
-- through arrayExists; that compares the fastest as it looks at each distinct party once. The
-- engine leaves out the clauses of an empty list of parties before it reads. Without templates both
-- sides of the comparison are 0: with OR in its place the engine would skip less.
SELECT node_offset
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND (template_id IN {templates:Array(String)}) = notEmpty({templates:Array(String)})
  AND indexHint(empty({parties:Array(String)}) OR hasAny(witness_parties, {parties:Array(String)}))
  AND (empty({parties:Array(String)}) OR arrayExists(p -> p IN {parties:Array(String)}, witness_parties))
ORDER BY node_offset * {direction:Int8}
LIMIT 1 BY node_offset
LIMIT {limit:UInt32}
SETTINGS use_uncompressed_cache = 1, local_filesystem_read_method = 'pread'
