-- All rows of the contracts of wallets up to an offset, in the order of the table.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties, stream, party, template, node_offset, ended,
       synchronizer_id, blob, lookup_key, owner, amount, rate, round, expires_at, lock_holders
FROM wallet_contracts
WHERE stream = {stream:String} AND node_offset <= {at:Int64}
ORDER BY stream, party, template, contract_id, node_offset
