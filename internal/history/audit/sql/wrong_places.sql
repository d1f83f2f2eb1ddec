-- Where places and the other tables of history differ, by hour, up to a record time or an offset: how
-- many places there should be and are, by sums of hashes, which take the same memory however long
-- history is. It must expect what store.Places adds.
WITH
    updates_within AS (
        SELECT update_id, kind AS update_kind, external_transaction_hash, contract_id, node_offset, migration_id, record_time
        FROM updates
        WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset <= {through_offset:Int64},
            (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))),
    events_within AS (
        SELECT update_id, kind AS event_kind, consuming, contract_id, signatories, observers, acting_parties, witness_parties, node_offset, migration_id, record_time
        FROM events
        WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset <= {through_offset:Int64},
            (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))),
    verdicts_within AS (
        SELECT update_id, toInt64(0) AS node_offset, migration_id, record_time
        FROM verdicts
        WHERE stream = {stream:String} AND (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))
SELECT kind, migration_id, toInt64(toUnixTimestamp(hour)) * 1000000 AS hour_from, sumIf(n, expected) AS places_expected, sumIf(n, NOT expected) AS places_found
FROM
(
    SELECT kind, migration_id, toStartOfHour(record_time) AS hour, true AS expected, count() AS n, sum(cityHash64(place_key, node_offset, migration_id, record_time)) AS total
    FROM
    (
        SELECT 'update' AS kind, xxHash64(concat({stream:String}, ' update ', update_id)) AS place_key, node_offset, migration_id, record_time FROM updates_within
        UNION ALL
        SELECT 'verdict' AS kind, xxHash64(concat({stream:String}, ' verdict ', update_id)) AS place_key, node_offset, migration_id, record_time FROM verdicts_within
        UNION ALL
        SELECT 'hash' AS kind, xxHash64(concat({stream:String}, ' hash ', external_transaction_hash)) AS place_key, node_offset, migration_id, record_time FROM updates_within
        WHERE external_transaction_hash != ''
        UNION ALL
        SELECT 'contract' AS kind, xxHash64(concat({stream:String}, ' contract ', contract_id)) AS place_key, node_offset, migration_id, record_time FROM updates_within
        WHERE update_kind = 'unassignment' AND node_offset = 0
        UNION ALL
        SELECT if(event_kind = 'exercised' AND NOT consuming, 'exercise', 'contract') AS kind, xxHash64(concat({stream:String}, ' ', kind, ' ', contract_id)) AS place_key, node_offset, migration_id, record_time
        FROM events_within
        UNION ALL
        SELECT 'party' AS kind, xxHash64(concat({stream:String}, ' party ', arrayJoin(parties))) AS place_key, at_offset AS node_offset, migration_id, record_time
        FROM
        (
            SELECT migration_id, record_time, update_id, any(node_offset) AS at_offset,
                groupUniqArrayArray(if(node_offset > 0, witness_parties, arrayConcat(signatories, observers, acting_parties))) AS parties
            FROM events_within
            GROUP BY migration_id, record_time, update_id
        )
    )
    GROUP BY kind, migration_id, hour
    UNION ALL
    SELECT kind, migration_id, toStartOfHour(record_time) AS hour, false AS expected, count() AS n, sum(cityHash64(place_key, node_offset, migration_id, record_time)) AS total
    FROM places
    WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset <= {through_offset:Int64},
            (migration_id, record_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))
    GROUP BY kind, migration_id, hour
)
GROUP BY kind, migration_id, hour
HAVING places_expected != places_found OR sumIf(total, expected) != sumIf(total, NOT expected)
ORDER BY migration_id, hour, kind
LIMIT 1000
SETTINGS optimize_aggregation_in_order = 1
