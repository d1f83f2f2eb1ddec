-- end_live_contracts for a few contracts, which are named in the statement: no scratch table
-- has to be emptied and filled first. Ids have no duplicates. Can be repeated.
UPDATE contracts_live
SET archived_at = transform(contract_id, {ids:Array(String)}, {ends:Array(DateTime64(6, 'UTC'))}, archived_at)
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND archived_at = toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
  AND created_time < transform(contract_id, {ids:Array(String)}, {ends:Array(DateTime64(6, 'UTC'))}, created_time)
  AND contract_id IN {ids:Array(String)}
