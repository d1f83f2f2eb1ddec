-- The movements of a migration between two record times, both inclusive. Without an order, which the
-- caller appends. The condition on the time leaves other months unread. Within a month the key is of
-- parties, so that it is read whole.
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, pocket, amount, cause, class, purpose, counterparty,
       round, stated_round, choice, template, reference, reason, source, node_offset
FROM movements
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last:Int64}, 'UTC')
