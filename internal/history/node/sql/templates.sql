-- Templates of the events of a node's own stream up to an offset, and the interfaces of
-- which choices were exercised on them. It must stay in the form of projection "templates",
-- which answers it.
SELECT package_name, template_id, interface_id
FROM events
WHERE stream = {stream:String}
GROUP BY stream, package_name, template_id, interface_id
HAVING min(node_offset) <= {through:Int64}
ORDER BY package_name, template_id, interface_id
