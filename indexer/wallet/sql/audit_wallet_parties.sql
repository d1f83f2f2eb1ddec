-- The parties of a node that have a contract of wallets.
SELECT DISTINCT party AS name
FROM wallet_contracts
WHERE stream = {stream:String} AND node_offset <= {at:Int64} AND NOT ended
