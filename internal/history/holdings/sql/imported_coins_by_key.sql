-- The coins among some that were carried over into a migration.
SELECT migration_id, fromUnixTimestamp64Micro({time:Int64}, 'UTC') AS record_time, update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
       template_id, package_name, toLowCardinality('') AS choice, toLowCardinality('') AS interface_id, encoding, false AS consuming,
       CAST([], 'Array(Int32)') AS children, xxHash64(concat({stream:String}, ' contract ', contract_id)) AS contract,
       toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape, concat(contract_id, '\0', argument_scalars) AS body_scalars,
       CAST([], 'Array(String)') AS body_ids, argument_parties AS body_parties
FROM imports
WHERE stream = {stream:String} AND package_name = 'splice-amulet' AND has(signatories, {party:String})
  AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet'))
  AND xxHash64(concat({stream:String}, ' contract ', contract_id)) IN {keys:Array(UInt64)}
LIMIT 1 BY contract_id
