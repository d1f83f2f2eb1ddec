-- Drops the ends of contracts of which there is no other row.
DELETE FROM wallet_contracts
WHERE stream = {stream:String} AND ended AND node_offset <= {at:Int64} AND contract_id NOT IN
(
    SELECT contract_id FROM wallet_contracts
    WHERE stream = {stream:String} AND NOT ended AND contract_id IN
    (
        SELECT contract_id FROM wallet_contracts
        WHERE stream = {stream:String} AND ended AND node_offset <= {at:Int64}
    )
)
