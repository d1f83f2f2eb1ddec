-- The mining rounds that were created last up to a position, and those that its migration began with.
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
       contract, body_shape, body_scalars, body_ids, body_parties
FROM
(
    SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
           toUInt64(0) AS contract, body_shape, body_scalars, CAST([], 'Array(String)') AS body_ids, body_parties
    FROM events
    WHERE stream = {stream:String} AND kind = 'created' AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Round:OpenMiningRound')
      AND has(signatories, {party:String})
      AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'))
    ORDER BY migration_id DESC, record_time DESC, update_id DESC, node DESC
    LIMIT 20
    UNION ALL
    SELECT migration_id, fromUnixTimestamp64Micro({time:Int64}, 'UTC') AS record_time, update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
           template_id, package_name, toLowCardinality('') AS choice, toLowCardinality('') AS interface_id, encoding, false AS consuming,
           CAST([], 'Array(Int32)') AS children, toUInt64(0) AS contract,
           toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape, concat(contract_id, '\0', argument_scalars) AS body_scalars,
           CAST([], 'Array(String)') AS body_ids, argument_parties AS body_parties
    FROM imports
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND package_name = 'splice-amulet' AND has(signatories, {party:String})
      AND endsWith(template_id, ':Splice.Round:OpenMiningRound')
)
