-- Where did a coin come from, and what became of it?
-- group: Auditor
-- number: 24
-- contract String: contract id of the coin
-- example: contract=00754ff9203c63fec6ea2a02801c3d8534919a8b1f046e0b5a557184c24ecf537bca101220d4e66e7de4aa30d9b7113860db39638561b5d7a5a63519a4743fe3a60f889164

WITH coin AS (
    SELECT created_time, created_in, archived_at,
        JSONExtractString(if(endsWith(template, ':LockedAmulet'), JSONExtractRaw(argument, 'record', 'fields', 1, 'value'), argument), 'record', 'fields', 2, 'value', 'party') AS owner
    FROM (
        SELECT template, created_time, created_in, archived_at, argument FROM contracts_archived
        WHERE stream = 'scan' AND contract_id = {contract:String}
        UNION ALL
        SELECT template, created_time, created_in, archived_at, argument FROM contracts_live
        WHERE stream = 'scan' AND contract_id = {contract:String}
    )
    WHERE template IN ('splice-amulet:Splice.Amulet:Amulet', 'splice-amulet:Splice.Amulet:LockedAmulet')
    ORDER BY archived_at
    LIMIT 1
)
SELECT coin.owner AS owner, created_in, created_time, arraySort(groupUniqArrayIf(toString(m.cause), m.amount > 0 AND m.update_id = created_in)) AS came_by,
    archived_at, anyIf(m.update_id, m.record_time = archived_at) AS archived_in,
    arraySort(groupUniqArrayIf(toString(m.cause), m.amount < 0 AND m.record_time = archived_at)) AS went_by
FROM coin
LEFT JOIN (
    SELECT record_time, update_id, toString(party) AS party, cause, amount
    FROM movements
    WHERE stream = 'scan' AND party = (SELECT owner FROM coin)
        AND (record_time = (SELECT created_time FROM coin) OR record_time = (SELECT archived_at FROM coin))
) AS m ON m.party = coin.owner
GROUP BY owner, created_in, created_time, archived_at
