-- What an update did to holdings, in its order. Whose they are is in the events of the update: movements are
-- found by party.
SELECT entry, event, party, instrument, toString(pocket) AS in_pocket, toString(amount) AS change, toString(cause) AS why, class, purpose, counterparty, reference, reason
FROM movements
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND record_time = fromUnixTimestamp64Micro({time:Int64}, 'UTC')
  AND update_id = {id:String}
  AND party IN (
    SELECT DISTINCT arrayJoin(arrayConcat(signatories, observers, acting_parties, body_parties))
    FROM events
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND record_time = fromUnixTimestamp64Micro({time:Int64}, 'UTC')
      AND update_id = {id:String})
ORDER BY entry
LIMIT {limit:UInt32}
