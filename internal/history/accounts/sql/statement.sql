-- Movements of a party and an instrument between two instants, both inclusive, behind a place: a page of a statement.
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, pocket, amount, cause, class, purpose, counterparty,
       round, stated_round, choice, template, reference, reason, source, node_offset
FROM movements
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND (migration_id > {after_migration:Int64} OR migration_id = {after_migration:Int64} AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'))
  AND (migration_id, record_time, update_id, entry) > ({after_migration:Int64}, fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String}, {after_entry:Int32})
ORDER BY stream, party, instrument, migration_id, record_time, update_id, entry
LIMIT {limit:UInt32}
