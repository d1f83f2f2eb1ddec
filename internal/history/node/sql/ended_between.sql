-- What the contracts were that ended between two offsets of a node's own stream.
SELECT stream, archived_offset, contract_key, template_id, signatories, observers
FROM ended_contracts
WHERE stream = {stream:String} AND archived_offset > {after:Int64} AND archived_offset <= {through:Int64}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
