-- Templates of the events of a node's own stream between two offsets, and the interfaces
-- of which choices were exercised on them.
SELECT package_name, template_id, interface_id
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
GROUP BY package_name, template_id, interface_id
ORDER BY package_name, template_id, interface_id
