-- Fills places from the other tables of history, for a range of one stream within one migration: of a
-- node's own stream between offsets. It must find what store.Places adds. The order makes the rows
-- of a repeated statement the same. On a cluster each shard adds its rows, of what all have.
INSERT INTO places (stream, kind, place_key, node_offset, migration_id, record_time)
WITH
    updates_within AS (
        SELECT update_id, kind AS update_kind, external_transaction_hash, contract_id, node_offset, migration_id, record_time
        FROM {readers:Identifier}.updates
        WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset > {after_offset:Int64} AND node_offset <= {through_offset:Int64},
            migration_id = {migration:Int64} AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
            AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
            AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
            AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))),
    events_within AS (
        SELECT update_id, kind AS event_kind, consuming, contract_id, signatories, observers, acting_parties, witness_parties, node_offset, migration_id, record_time
        FROM {readers:Identifier}.events
        WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset > {after_offset:Int64} AND node_offset <= {through_offset:Int64},
            migration_id = {migration:Int64} AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
            AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
            AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
            AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))),
    verdicts_within AS (
        SELECT update_id, toInt64(0) AS node_offset, migration_id, record_time
        FROM {readers:Identifier}.verdicts
        WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
            AND record_time <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
            AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
            AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))
SELECT {stream:String}, kind, place_key, node_offset, migration_id, record_time
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
    SELECT 'party' AS kind, xxHash64(concat({stream:String}, ' party ', party)) AS place_key, node_offset, migration_id, record_time
    FROM
    (
        SELECT DISTINCT update_id, node_offset, migration_id, record_time,
            arrayJoin(if(node_offset > 0, witness_parties, arrayConcat(signatories, observers, acting_parties))) AS party
        FROM events_within
    )
)
WHERE place_key % {shards:UInt64} = {shard:UInt64}
ORDER BY place_key, node_offset, migration_id, record_time
SETTINGS max_threads = 1, min_insert_block_size_rows = 0, min_insert_block_size_bytes = 0, max_insert_block_size = 10000000, max_block_size = 65536
