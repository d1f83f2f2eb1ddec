-- The offset of the set of contracts that a node's own stream began with; no row without
-- any.
SELECT node_offset
FROM imports
WHERE stream = {stream:String}
LIMIT 1
