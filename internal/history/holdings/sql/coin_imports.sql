-- The coins and mining rounds that were carried over into a migration, as events of their creation.
SELECT migration_id, fromUnixTimestamp64Micro({time:Int64}, 'UTC') AS record_time, update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
       template_id, package_name, toLowCardinality('') AS choice, toLowCardinality('') AS interface_id, encoding, false AS consuming,
       CAST([], 'Array(Int32)') AS children, xxHash64(concat({stream:String}, ' contract ', contract_id)) AS contract,
       toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape, concat(contract_id, '\0', argument_scalars) AS body_scalars,
       CAST([], 'Array(String)') AS body_ids, argument_parties AS body_parties
FROM imports
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND update_id > {after_id:String} AND update_id <= {through_id:String}
  AND package_name = 'splice-amulet' AND has(signatories, {party:String})
  AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet') OR endsWith(template_id, ':Splice.Round:OpenMiningRound'))
ORDER BY update_id
