-- The blobs of contracts that parties of a node have seen up to an offset.
SELECT contract_id, blob
FROM wallet_contracts
WHERE stream = {stream:String} AND contract_id IN {contracts:Array(String)} AND node_offset <= {at:Int64} AND notEmpty(blob)
LIMIT 1 BY contract_id
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
