-- The import updates that carried a contract over, by migration. The id of an import
-- update is that of its contract.
SELECT stream, migration_id, update_id, synchronizer_id, encoding, workflow_id, effective_at, event_id, contract_id,
       template_id, package_name, created_at, signatories, observers, node_offset, witness_parties, extras,
       argument_shape, argument_scalars, argument_ids, argument_parties
FROM imports
WHERE stream = {stream:String} AND update_id = {contract:String}
ORDER BY migration_id
