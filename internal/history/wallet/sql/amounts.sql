-- What sums over the coins of which a party of a node is the owner at an offset need; see
-- wallet_contracts.sql.
SELECT template, amount, rate, round
FROM
(
    SELECT template, amount, rate, round, owner, ended
    FROM wallet_contracts
    WHERE stream = {stream:String} AND party = {party:String} AND template IN ({coin:String}, {locked:String}) AND node_offset <= {at:Int64}
    ORDER BY contract_id, node_offset DESC
    LIMIT 1 BY contract_id
)
WHERE NOT ended AND owner = {party:String}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
