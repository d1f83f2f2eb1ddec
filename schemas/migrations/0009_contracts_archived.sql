-- +goose Up
-- Lifetimes that have ended, by the month in which they ended: a query for the
-- active set at T reads the months from T on and, in them, rows created up to T.
CREATE TABLE IF NOT EXISTS contracts_archived
(
    stream          LowCardinality(String),
    migration_id    Int64 CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    created_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    created_in      String CODEC(ZSTD(1)),
    archived_at     DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    template        LowCardinality(String) CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    created_offset  Int64 CODEC(ZSTD(1)),
    archived_offset Int64 CODEC(ZSTD(1)),
    lookup_key      String CODEC(ZSTD(1)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    INDEX created_time_range created_time TYPE minmax GRANULARITY 1,
    INDEX archived_at_range archived_at TYPE minmax GRANULARITY 1,
    INDEX signatories_bloom signatories TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX observers_bloom observers TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX template_set template TYPE set(200) GRANULARITY 1,
    INDEX lookup_key_bloom lookup_key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(archived_at))
ORDER BY (stream, migration_id, created_at, contract_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
