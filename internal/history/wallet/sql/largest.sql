-- The largest unlocked coins of which a party of a node is the owner at an offset; see wallet_contracts.sql.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, stream, party, template, node_offset, ended,
       synchronizer_id, blob, lookup_key, owner, amount, rate, round, expires_at, lock_holders
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, stream, party, template, node_offset, ended,
       synchronizer_id, blob, lookup_key, owner, amount, rate, round, expires_at, lock_holders
    FROM wallet_contracts
    WHERE stream = {stream:String} AND party = {party:String} AND template = {coin:String} AND node_offset <= {at:Int64}
    ORDER BY contract_id, node_offset DESC
    LIMIT 1 BY contract_id
)
WHERE NOT ended AND owner = {party:String}
ORDER BY amount DESC, contract_id
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
