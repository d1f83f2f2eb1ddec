-- Contracts of templates of rounds that have a number among their values, by creation. Contracts that were carried over
-- into the next migration are there once, as they were last.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_live
    PREWHERE template IN {templates:Array(String)}
    WHERE stream = {stream:String} AND (migration_id, created_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND has(splitByChar('\0', argument_scalars), {number:String})
    LIMIT 200
    UNION ALL
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_archived
    PREWHERE template IN {templates:Array(String)}
    WHERE stream = {stream:String} AND (migration_id, created_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND has(splitByChar('\0', argument_scalars), {number:String})
    LIMIT 200
)
ORDER BY created_at, contract_id, migration_id DESC
LIMIT 1 BY contract_id
