-- All intents under one sequence number, of whatever writer, their withdrawals, and the
-- claims of later writers. The old analyzer, as for the watermark.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer, epoch, update_rows, import_rows, verdict_rows, lifetime_rows, place_rows
FROM batches
WHERE stream = {stream:String}
  AND (sequence = {sequence:Int64} AND state IN ('intent', 'withdrawn')
       OR sequence = 0 AND state = 'claim' AND epoch > {epoch:Int64})
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
