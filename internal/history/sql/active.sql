-- A page of the contracts active at an instant that are in one table, in (created_at, contract_id)
-- order: contracts_live has those that have not been moved to contracts_archived. Import updates have
-- the first of all times.
SELECT created_at, contract_id,
       if({hide_carried:Bool} AND toUnixTimestamp64Micro(created_time) = -2208988800000000, '', created_in) AS created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties
FROM {table:Identifier}
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
  AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
  AND created_at <= fromUnixTimestamp64Micro({through_created:Int64}, 'UTC')
  AND (created_at, contract_id) <= (fromUnixTimestamp64Micro({through_created:Int64}, 'UTC'), {through_id:String})
  AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND (empty({templates:Array(String)}) OR has({templates:Array(String)}, template))
  AND (empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
ORDER BY created_at, contract_id
LIMIT {limit:UInt32}
SETTINGS max_threads = 1
