-- Where did a coin come from, and what became of it?
-- group: Auditor
-- number: 24
-- contract String: contract id of the coin
-- example: contract=00754ff9203c63fec6ea2a02801c3d8534919a8b1f046e0b5a557184c24ecf537bca101220d4e66e7de4aa30d9b7113860db39638561b5d7a5a63519a4743fe3a60f889164

WITH coin AS (
    SELECT anyIf(update_id, kind = 'created') AS created_in, anyIf(record_time, kind = 'created') AS created,
        anyIf(argument, kind = 'created') AS payload, anyIf(update_id, consuming) AS archived_in, anyIf(record_time, consuming) AS archived,
        JSONExtractString(if(JSONHas(payload, 'record', 'fields', 2, 'value', 'party'), payload, JSONExtractRaw(payload, 'record', 'fields', 1, 'value')),
            'record', 'fields', 2, 'value', 'party') AS owner
    FROM events
    WHERE stream = 'scan' AND contract_id = {contract:String}
        AND (migration_id, record_time) IN (
            SELECT migration_id, record_time FROM places WHERE place_key = xxHash64(concat('scan contract ', {contract:String}))
        )
)
SELECT coin.owner AS owner, coin.created AS created, coin.created_in AS created_in,
    arraySort(groupUniqArrayIf(toString(m.cause), m.amount > 0 AND m.update_id = coin.created_in)) AS came_by,
    coin.archived AS archived, coin.archived_in AS archived_in,
    arraySort(groupUniqArrayIf(toString(m.cause), m.amount < 0 AND m.update_id = coin.archived_in)) AS went_by
FROM coin
LEFT JOIN (
    SELECT toString(party) AS party, update_id, cause, amount
    FROM movements
    WHERE stream = 'scan' AND party = (SELECT owner FROM coin) AND record_time IN (SELECT arrayJoin([created, archived]) FROM coin)
) AS m ON m.party = coin.owner
GROUP BY owner, created, created_in, archived, archived_in
