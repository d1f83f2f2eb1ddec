-- The latest claims of a stream. The old analyzer, as for the watermark.
SELECT stream, sequence, state,
       after_migration, after_time, after_id, after_offset,
       through_migration, through_time, through_id, through_offset,
       items, events, hash, writer, epoch, update_rows, import_rows, verdict_rows, lifetime_rows, place_rows
FROM batches
WHERE stream = {stream:String} AND sequence = 0 AND state = 'claim'
ORDER BY epoch DESC
LIMIT 16
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
