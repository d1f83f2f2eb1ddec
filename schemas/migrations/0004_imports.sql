-- +goose Up
-- One row per contract that was carried over into a migration. The update's record
-- time is always the minimum timestamp and its only event is its root. A node's own stream
-- that began with a set of active contracts has them here, with the offset of the set.
-- The argument is stored like the body of an event, see there.
CREATE TABLE IF NOT EXISTS imports
(
    stream          LowCardinality(String),
    migration_id    Int64 CODEC(ZSTD(1)),
    update_id       String CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    workflow_id     String CODEC(ZSTD(1)),
    effective_at    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    event_id        String CODEC(ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    node_offset     Int64 CODEC(ZSTD(1)),
    witness_parties Array(LowCardinality(String)) CODEC(ZSTD(1)),
    extras          String CODEC(ZSTD(3)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    PROJECTION counts
    (
        SELECT stream, migration_id, count(), max(update_id)
        GROUP BY stream, migration_id
    )
)
ENGINE = MergeTree
PARTITION BY migration_id
ORDER BY (stream, migration_id, update_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
