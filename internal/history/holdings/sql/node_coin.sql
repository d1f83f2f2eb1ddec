-- A coin of a node's own stream, as the event of its creation: it names the governance party, which signs it.
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
       contract, body_shape, body_scalars, body_ids, body_parties
FROM
(
    SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
           toUInt64(0) AS contract, body_shape, body_scalars, CAST([], 'Array(String)') AS body_ids, body_parties
    FROM events
    WHERE stream = {stream:String} AND kind = 'created' AND package_name = 'splice-amulet' AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet'))
    ORDER BY stream, migration_id, record_time, update_id, node
    LIMIT 1
    UNION ALL
    SELECT migration_id, effective_at AS record_time, update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
           template_id, package_name, toLowCardinality('') AS choice, toLowCardinality('') AS interface_id, encoding, false AS consuming,
           CAST([], 'Array(Int32)') AS children, toUInt64(0) AS contract,
           toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape, concat(contract_id, '\0', argument_scalars) AS body_scalars,
           CAST([], 'Array(String)') AS body_ids, argument_parties AS body_parties
    FROM imports
    WHERE stream = {stream:String} AND package_name = 'splice-amulet' AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet'))
    LIMIT 1
)
LIMIT 1
