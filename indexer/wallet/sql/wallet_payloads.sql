-- Contracts of wallets by id, once each, whether they have ended or not.
SELECT created_at, contract_id, created_in, template_id, package_name, encoding, signatories, observers,
       argument_shape, argument_scalars, argument_ids, argument_parties
FROM wallet_contracts
WHERE stream = {stream:String} AND contract_id IN {ids:Array(String)} AND NOT ended
LIMIT 1 BY contract_id
