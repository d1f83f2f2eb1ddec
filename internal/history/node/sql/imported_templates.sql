-- Templates of the contracts that a node's own stream began with.
SELECT package_name, template_id, toLowCardinality('') AS interface_id
FROM imports
WHERE stream = {stream:String}
GROUP BY package_name, template_id
ORDER BY package_name, template_id
