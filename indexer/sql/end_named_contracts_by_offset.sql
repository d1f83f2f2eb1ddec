-- end_live_contracts_by_offset for a few contracts, which are named in the statement: no
-- scratch table has to be emptied and filled first. Ids have no duplicates. Can be repeated.
UPDATE contracts_live
SET archived_at = transform(contract_id, {ids:Array(String)}, {ends:Array(DateTime64(6, 'UTC'))}, archived_at),
    archived_offset = transform(contract_id, {ids:Array(String)}, {offsets:Array(Int64)}, archived_offset)
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND archived_at = toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
  AND created_offset < transform(contract_id, {ids:Array(String)}, {offsets:Array(Int64)}, created_offset)
  AND contract_id IN {ids:Array(String)}
