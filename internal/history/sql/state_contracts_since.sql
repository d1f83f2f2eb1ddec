-- Contracts of some templates that were created since an instant, also those that have
-- ended. One that ends and comes back, by a reassignment, is taken once.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND template IN {templates:Array(String)}
      AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND created_at >= fromUnixTimestamp64Micro({since:Int64}, 'UTC')
      AND lookup_key = {key:String}
    ORDER BY created_at, contract_id, archived_at DESC
    LIMIT {limit:UInt32}
    UNION ALL
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND template IN {templates:Array(String)}
      AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND created_at >= fromUnixTimestamp64Micro({since:Int64}, 'UTC')
      AND lookup_key = {key:String}
    ORDER BY created_at, contract_id, archived_at DESC
    LIMIT {limit:UInt32}
)
ORDER BY created_at, contract_id, archived_at DESC
LIMIT 1 BY contract_id
LIMIT {limit:UInt32}
