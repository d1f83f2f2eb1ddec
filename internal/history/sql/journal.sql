-- The whole journal of a stream.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer
FROM batches
WHERE stream = {stream:String}
ORDER BY sequence, state
