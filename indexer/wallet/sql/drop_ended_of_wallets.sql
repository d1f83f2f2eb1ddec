-- Drops the rows by which contracts were active whose last row says that they have ended.
DELETE FROM wallet_contracts
WHERE stream = {stream:String} AND NOT ended AND node_offset <= {at:Int64} AND contract_id IN
(
    SELECT contract_id FROM wallet_contracts
    WHERE stream = {stream:String} AND node_offset <= {at:Int64} AND contract_id IN
    (
        SELECT contract_id FROM wallet_contracts
        WHERE stream = {stream:String} AND ended AND node_offset <= {at:Int64}
    )
    GROUP BY contract_id
    HAVING argMax(ended, node_offset)
)
