-- Where updates of one migration stand of which a party is a signatory, an observer, an actor or a
-- witness, ascending. Others may be among them: see table places.
SELECT record_time, update_id
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND record_time IN (
    SELECT record_time
    FROM places
    PREWHERE place_key IN {keys:Array(UInt64)}
    WHERE node_offset = 0 AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
    ORDER BY record_time
    LIMIT {most:UInt32})
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
ORDER BY stream, migration_id, record_time, update_id
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
