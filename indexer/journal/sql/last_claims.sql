-- The latest claims of a stream.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer, epoch, update_rows, import_rows, verdict_rows, lifetime_rows, place_rows
FROM batches
WHERE stream = {stream:String} AND sequence = 0 AND state = 'claim'
ORDER BY epoch DESC
LIMIT 16
