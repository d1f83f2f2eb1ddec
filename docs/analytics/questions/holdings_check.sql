-- Do the movements of all parties add up to the coins that they hold now?
-- group: Auditor
-- number: 21

-- A row per pocket; different counts the parties for which they do not.
SELECT pocket, count() AS parties, sum(moved) AS moved_in_all, sum(held) AS held_in_all, countIf(moved != held) AS different
FROM (
    SELECT party, pocket, sum(moved) AS moved, sum(held) AS held
    FROM (
        SELECT toString(party) AS party, toString(pocket) AS pocket, amount AS moved, toDecimal128(0, 10) AS held
        FROM movements
        WHERE stream = 'scan'
        UNION ALL
        SELECT JSONExtractString(coin, 'fields', 2, 'value', 'party'), pocket, toDecimal128(0, 10),
            toDecimal128(JSONExtractString(coin, 'fields', 3, 'value', 'record', 'fields', 1, 'value', 'numeric'), 10)
        FROM (
            SELECT 'unlocked' AS pocket, JSONExtractRaw(argument, 'record') AS coin
            FROM contracts_live
            WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND stream = 'scan' AND archived_at > '2299-01-01'
            AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
            UNION ALL
            SELECT 'locked', JSONExtractRaw(argument, 'record', 'fields', 1, 'value', 'record')
            FROM contracts_live
            WHERE template = 'splice-amulet:Splice.Amulet:LockedAmulet' AND stream = 'scan' AND archived_at > '2299-01-01'
            AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
        )
    )
    GROUP BY party, pocket
)
GROUP BY pocket
ORDER BY pocket
