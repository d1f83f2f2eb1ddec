-- Contracts of some templates that are active for some parties of a node at an offset, after a
-- key. The last row of a contract says how it stands: rows of what has ended stay until
-- housekeeping drops them, and a contract may come back by a reassignment.
SELECT argument_shape, argument_scalars, argument_ids, argument_parties, created_at, contract_id, template_id, encoding, template,
       node_offset, synchronizer_id, blob, owner, amount, rate, round, expires_at, lock_holders
FROM
(
    SELECT argument_shape, argument_scalars, argument_ids, argument_parties, created_at, contract_id, template_id, encoding, template,
       node_offset, synchronizer_id, blob, owner, amount, rate, round, expires_at, lock_holders, ended
    FROM wallet_contracts
    WHERE stream = {stream:String} AND party IN {parties:Array(String)} AND template IN {templates:Array(String)}
      AND node_offset <= {at:Int64} AND ({key:String} = '' OR ended OR lookup_key = {key:String})
    ORDER BY contract_id, node_offset DESC
    LIMIT 1 BY contract_id
)
WHERE NOT ended
  AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
ORDER BY created_at, contract_id
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
