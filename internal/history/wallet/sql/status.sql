-- The latest step of what a party tracks by an id, of its own before that of others.
SELECT stream, party, kind, tracking_id, node_offset, step, sender, receiver, status, update_id, contract_id, failure, reason, effective_at
FROM wallet_status
WHERE stream = {stream:String} AND party = {party:String} AND kind = {kind:String} AND tracking_id = {tracking:String}
  AND node_offset <= {at:Int64}
ORDER BY sender = party DESC, node_offset DESC, step DESC
LIMIT 1
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
