-- The coins that were active on a node at an offset, as events of their creation.
SELECT migration_id, created_time AS record_time, created_in AS update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
       template_id, package_name, toLowCardinality('') AS choice, toLowCardinality('') AS interface_id, encoding, false AS consuming,
       CAST([], 'Array(Int32)') AS children, toUInt64(1) AS contract, toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape,
       concat(contract_id, '\0', argument_scalars) AS body_scalars, CAST([], 'Array(String)') AS body_ids, argument_parties AS body_parties
FROM
(
    SELECT * FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN ('splice-amulet:Splice.Amulet:Amulet', 'splice-amulet:Splice.Amulet:LockedAmulet')
    UNION ALL
    SELECT * FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN ('splice-amulet:Splice.Amulet:Amulet', 'splice-amulet:Splice.Amulet:LockedAmulet')
)
WHERE has(signatories, {party:String}) AND created_offset <= {at:Int64} AND (archived_offset = 0 OR archived_offset > {at:Int64})
LIMIT 1 BY contract_id
