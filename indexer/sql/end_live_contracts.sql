-- Gives live contracts the end that the scratch table names. A lifetime that begins
-- after that end is a later one of the same contract and stays. Can be repeated.
UPDATE contracts_live
SET archived_at = joinGet({table:String}, 'archived_at', contract_id)
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND archived_at = toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
  AND created_time < joinGet({table:String}, 'archived_at', contract_id)
  AND contract_id IN (SELECT contract_id FROM {table:Identifier})
