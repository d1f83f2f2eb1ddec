-- The commits of a stream after a sequence number that end after a position, oldest
-- first. The sequence number is what the key can search by. The old analyzer, as for the watermark.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer, epoch, update_rows, import_rows, verdict_rows, lifetime_rows, place_rows
FROM batches
WHERE stream = {stream:String} AND state = 'commit' AND sequence > {sequence:Int64}
  AND (through_offset, through_migration, through_time, through_id) > ({offset:Int64}, {migration:Int64}, {time:Int64}, {id:String})
ORDER BY sequence
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
