-- Where updates of one migration stand in whose events a party is signatory, observer,
-- actor or witness, ascending.
SELECT record_time, update_id
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND (has(signatories, {party:String}) OR has(observers, {party:String}) OR has(acting_parties, {party:String})
       OR has(witness_parties, {party:String}))
ORDER BY stream, migration_id, record_time, update_id
LIMIT 1 BY record_time, update_id
LIMIT {limit:UInt32}
