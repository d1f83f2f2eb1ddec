-- Parties that were active in the last hours of a migration and whose id begins with some text.
SELECT party AS name
FROM party_hours
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND hour >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND startsWith(party, {prefix:String})
ORDER BY stream DESC, migration_id DESC, hour DESC, party DESC
LIMIT 1 BY party
LIMIT {limit:UInt32}
SETTINGS max_rows_to_read = 1000000, read_overflow_mode = 'break', max_execution_time = 0.06, timeout_overflow_mode = 'break', max_threads = 1, enable_analyzer = 0
