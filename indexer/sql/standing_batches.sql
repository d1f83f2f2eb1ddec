-- All journal lines of a stream, claims left out, in order.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, update_rows, import_rows, verdict_rows, party_rows, lifetime_rows, hash, writer, epoch
FROM batches
WHERE stream = {stream:String} AND state != 'claim'
ORDER BY sequence, state
