-- Where the entry with an event id stands in the transaction log of a party.
SELECT node_offset, entry
FROM wallet_log
WHERE stream = {stream:String} AND party = {party:String} AND event_id = {event:String} AND node_offset <= {at:Int64}
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
