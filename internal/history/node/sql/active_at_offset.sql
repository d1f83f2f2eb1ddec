-- A page of the contracts of a node's own stream that are active at an offset, in
-- (created_at, contract_id) order, which is that of the tables. A contract that
-- housekeeping is moving stands in both and is taken once.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, synchronizer_id, created_offset
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, synchronizer_id, created_offset
    FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = 0
      AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
      AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
      AND created_offset <= {at:Int64} AND (archived_offset = 0 OR archived_offset > {at:Int64})
      AND (empty({templates:Array(String)}) OR has({templates:Array(String)}, template))
      AND (empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
    ORDER BY created_at, contract_id
    LIMIT {limit:UInt32}
    UNION ALL
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, synchronizer_id, created_offset
    FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = 0
      AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
      AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
      AND created_offset <= {at:Int64} AND archived_offset > {at:Int64}
      AND (empty({templates:Array(String)}) OR has({templates:Array(String)}, template))
      AND (empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
    ORDER BY created_at, contract_id
    LIMIT {limit:UInt32}
)
ORDER BY created_at, contract_id
LIMIT 1 BY contract_id
LIMIT {limit:UInt32}
