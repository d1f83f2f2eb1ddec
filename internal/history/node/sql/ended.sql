-- What the contracts were that ended at some offsets of a node's own stream.
SELECT stream, archived_offset, contract_key, template_id, signatories, observers
FROM ended_contracts
WHERE stream = {stream:String} AND archived_offset IN {offsets:Array(Int64)}
SETTINGS use_uncompressed_cache = 1, max_threads = 1, local_filesystem_read_method = 'pread', use_skip_indexes_on_data_read = 0, enable_analyzer = 0
