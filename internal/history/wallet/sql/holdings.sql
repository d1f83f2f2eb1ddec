-- The coins of which a party of a node is the owner at an offset; see wallet_contracts.sql.
SELECT argument_shape, argument_scalars, argument_ids, argument_parties, created_at, contract_id, template_id, encoding, template,
       node_offset, synchronizer_id, blob, owner, amount, rate, round, expires_at, lock_holders
FROM
(
    SELECT argument_shape, argument_scalars, argument_ids, argument_parties, created_at, contract_id, template_id, encoding, template,
       node_offset, synchronizer_id, blob, owner, amount, rate, round, expires_at, lock_holders, ended
    FROM wallet_contracts
    WHERE stream = {stream:String} AND party = {party:String} AND template IN ({coin:String}, {locked:String}) AND node_offset <= {at:Int64}
    ORDER BY contract_id, node_offset DESC
    LIMIT 1 BY contract_id
)
WHERE NOT ended AND owner = {party:String}
ORDER BY created_at, contract_id
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
