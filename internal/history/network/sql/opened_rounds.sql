-- Rounds that were opened up to an instant, also those that are over, the newest first.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_live
    WHERE stream = {stream:String} AND template IN {templates:Array(String)}
      AND (migration_id, created_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND created_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    ORDER BY created_at DESC, contract_id DESC, migration_id DESC
    LIMIT {limit:UInt32} * 2
    UNION ALL
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_archived
    WHERE stream = {stream:String} AND template IN {templates:Array(String)}
      AND (migration_id, created_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({at:Int64}, 'UTC'))
      AND created_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    ORDER BY created_at DESC, contract_id DESC, migration_id DESC
    LIMIT {limit:UInt32} * 2
)
ORDER BY created_at DESC, contract_id DESC, migration_id DESC
LIMIT 1 BY contract_id
LIMIT {limit:UInt32}
