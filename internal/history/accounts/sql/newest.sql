-- Movements of a party and an instrument behind a place, the newest first.
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, pocket, amount, cause, class, purpose, counterparty,
       round, stated_round, choice, template, reference, reason, source, node_offset
FROM movements
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND migration_id <= {before_migration:Int64}
  AND (migration_id, record_time, update_id, entry) < ({before_migration:Int64}, fromUnixTimestamp64Micro({before_time:Int64}, 'UTC'), {before_id:String}, {before_entry:Int32})
ORDER BY stream DESC, party DESC, instrument DESC, migration_id DESC, record_time DESC, update_id DESC, entry DESC
LIMIT {limit:UInt32}
