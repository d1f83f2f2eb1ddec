-- What must a package about a party in a period contain, and what proves it?
-- group: Compliance
-- number: 45
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 from=2026-07-01 to=2026-07-02

-- sha256 is of the rows as JSON, a line each, in the order of history: who has the same rows finds the same.
-- A segment proves its rows by its Merkle root: docs/formats/proofs.md.
SELECT * FROM (
    SELECT 'movements' AS file, count() AS rows, lower(hex(SHA256(arrayStringConcat(groupArray(line), '\n')))) AS sha256
    FROM (
        SELECT toJSONString((record_time, update_id, entry, instrument, pocket, amount, cause, class, counterparty, round, reason)) AS line
        FROM movements
        WHERE stream = 'scan' AND party = {party:String} AND record_time >= {from:Date} AND record_time < {to:Date}
        ORDER BY migration_id, record_time, update_id, entry
    )
    UNION ALL
    SELECT 'events', count(), lower(hex(SHA256(arrayStringConcat(groupArray(line), '\n'))))
    FROM (
        SELECT toJSONString((record_time, update_id, node, kind, contract_id, template_id, choice, argument, result)) AS line
        FROM events
        WHERE stream = 'scan' AND record_time >= {from:Date} AND record_time < {to:Date}
            AND (has(signatories, {party:String}) OR has(observers, {party:String}) OR has(acting_parties, {party:String}))
        ORDER BY migration_id, record_time, update_id, node
    )
    UNION ALL
    SELECT concat('segment ', toString(migration_id), ' ', segment_date), argMax(total_rows, version), argMax(root, version)
    FROM segments
    WHERE stream = 'scan' AND segment_date != '' AND toDate(left(segment_date, 10)) >= {from:Date} AND toDate(left(segment_date, 10)) < {to:Date}
    GROUP BY migration_id, segment_date
    HAVING argMax(state, version) = 'published'
)
ORDER BY file = 'movements' DESC, file = 'events' DESC, file
