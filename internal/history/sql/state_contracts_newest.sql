-- Contracts of some templates that are active at an instant, newest first.
-- An empty parameter does not count. Keys stand in PREWHERE, as they leave next to nothing
-- of the other columns to be read.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_live
    PREWHERE ({key:String} = '' OR lookup_key = {key:String}) AND ({prefix:String} = '' OR startsWith(lookup_key, {prefix:String}))
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND template IN {templates:Array(String)}
      AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND created_at <= fromUnixTimestamp64Micro({before_created:Int64}, 'UTC')
      AND ({before_id:String} = '' OR (created_at, contract_id) < (fromUnixTimestamp64Micro({before_created:Int64}, 'UTC'), {before_id:String}))
      AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND ({signatory:String} = '' OR has(signatories, {signatory:String}))
      AND ({observer:String} = '' OR has(observers, {observer:String}))
      AND ({contract:String} = '' OR contract_id = {contract:String})
    ORDER BY created_at DESC, contract_id DESC
    LIMIT {limit:UInt32}
    UNION ALL
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, migration_id, synchronizer_id, archived_at
    FROM contracts_archived
    PREWHERE ({key:String} = '' OR lookup_key = {key:String}) AND ({prefix:String} = '' OR startsWith(lookup_key, {prefix:String}))
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND template IN {templates:Array(String)}
      AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND created_at <= fromUnixTimestamp64Micro({before_created:Int64}, 'UTC')
      AND ({before_id:String} = '' OR (created_at, contract_id) < (fromUnixTimestamp64Micro({before_created:Int64}, 'UTC'), {before_id:String}))
      AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')
      AND ({signatory:String} = '' OR has(signatories, {signatory:String}))
      AND ({observer:String} = '' OR has(observers, {observer:String}))
      AND ({contract:String} = '' OR contract_id = {contract:String})
    ORDER BY created_at DESC, contract_id DESC
    LIMIT {limit:UInt32}
)
ORDER BY created_at DESC, contract_id DESC
LIMIT 1 BY contract_id
LIMIT {limit:UInt32}
