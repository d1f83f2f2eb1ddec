-- Parties whose holdings have moved, also in the hour that is not over, and whose id begins with some text, ascending.
SELECT party AS name
FROM movements
WHERE stream = {stream:String} AND party >= {prefix:String} AND party < {beyond:String} AND startsWith(party, {prefix:String})
ORDER BY stream, party
LIMIT 1 BY party
LIMIT {limit:UInt32}
SETTINGS max_rows_to_read = 1000000, read_overflow_mode = 'break', max_execution_time = 0.06, timeout_overflow_mode = 'break', max_threads = 1, enable_analyzer = 0
