-- Import updates of a migration, ascending by id.
SELECT stream, migration_id, update_id, synchronizer_id, encoding, workflow_id, effective_at, event_id, contract_id,
       template_id, package_name, created_at, signatories, observers, node_offset, witness_parties, extras,
       argument_shape, argument_scalars, argument_ids, argument_parties
FROM imports
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND update_id > {after_id:String} AND update_id <= {through_id:String}
ORDER BY stream, migration_id, update_id
LIMIT {limit:UInt32}
