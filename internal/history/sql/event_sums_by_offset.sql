-- Goes on from event_sums.sql: the events of a node's own stream between two offsets, both
-- inclusive.
WHERE stream = {stream:String} AND node_offset >= {first:Int64} AND node_offset <= {last:Int64}
ORDER BY node_offset, node
-- Otherwise the columns would be sorted before they are hashed.
SETTINGS query_plan_execute_functions_after_sorting = 0
