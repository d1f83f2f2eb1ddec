-- The movements of a node's own stream up to an offset, those of some times alone.
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, pocket, amount, cause, class, purpose, counterparty,
       round, stated_round, choice, template, reference, reason, source, node_offset
FROM movements
WHERE stream = {stream:String} AND migration_id >= {first_migration:Int64} AND migration_id <= {last_migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND node_offset <= {offset:Int64}
