-- A contract that is active for some parties of a node at an offset.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, stream, party, template, node_offset, ended,
       synchronizer_id, blob, lookup_key, owner, amount, rate, round, expires_at, lock_holders
FROM
(
    SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, stream, party, template, node_offset, ended,
       synchronizer_id, blob, lookup_key, owner, amount, rate, round, expires_at, lock_holders
    FROM wallet_contracts
    WHERE stream = {stream:String} AND party IN {parties:Array(String)} AND contract_id = {contract:String} AND node_offset <= {at:Int64}
    ORDER BY node_offset DESC
    LIMIT 1
)
WHERE NOT ended
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
