-- Contracts by id out of the history of a node's stream, and of what it began with.
SELECT contract_id, argument, encoding, package_name, template_id
FROM
(
    SELECT contract_id AS contract_id, argument AS argument, encoding, package_name, template_id
    FROM events
    WHERE stream = {stream:String} AND kind = 'created' AND events.contract_id IN {ids:Array(String)}
    UNION ALL
    SELECT contract_id, argument AS argument, encoding, package_name, template_id
    FROM imports
    WHERE stream = {stream:String} AND update_id IN {ids:Array(String)}
)
LIMIT 1 BY contract_id
