-- The contracts of some templates that were carried over into a migration, in a range of ids, as events of
-- their creation.
SELECT stream, migration_id, toDateTime64('1900-01-01 00:00:00', 6, 'UTC') AS record_time, update_id, toInt32(0) AS node, toLowCardinality('created') AS kind,
       synchronizer_id, encoding, event_id, template_id, package_name, created_at, signatories, observers, toLowCardinality('') AS choice,
       toLowCardinality('') AS interface_id, false AS consuming, CAST([], 'Array(LowCardinality(String))') AS acting_parties,
       CAST([], 'Array(Int32)') AS children, node_offset, witness_parties, false AS acs_delta, toInt32(0) AS last_descendant, extras,
       toLowCardinality(concat('\x03\n', argument_shape, '\n')) AS body_shape, concat(contract_id, '\0', argument_scalars) AS body_scalars,
       argument_ids AS body_ids, argument_parties AS body_parties
FROM imports
PREWHERE package_name IN {packages:Array(String)} AND substringIndex(template_id, ':', -2) IN {entities:Array(String)}
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND update_id > {after_id:String} AND update_id <= {through_id:String}
ORDER BY stream, migration_id, update_id
