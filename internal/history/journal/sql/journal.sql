-- The whole journal of a stream, without the claims of its writers.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer, epoch, update_rows, import_rows, verdict_rows, lifetime_rows, place_rows
FROM batches
WHERE stream = {stream:String} AND state != 'claim'
ORDER BY sequence, state
