-- The contracts of a node's own stream that ended in a range of offsets and had begun before
-- it, as rows of ended_contracts.
SELECT stream, archived_offset, xxHash64(contract_id) AS contract_key, template_id, signatories, observers
FROM contracts_live
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND archived_offset > {after:Int64} AND archived_offset <= {through:Int64} AND created_offset <= {after:Int64}
ORDER BY archived_offset, contract_key
