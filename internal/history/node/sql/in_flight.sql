-- Unassignments at or below an offset of a node's own stream whose assignment is not.
SELECT max(node_offset) AS node_offset
FROM (SELECT node_offset, kind, unassign_id FROM updates
      WHERE stream = {stream:String} AND node_offset <= {at:Int64} AND kind IN ('assignment', 'unassignment'))
GROUP BY unassign_id
HAVING countIf(kind = 'assignment') = 0
ORDER BY node_offset
SETTINGS local_filesystem_read_method = 'pread'
