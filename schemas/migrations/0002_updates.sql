-- +goose Up
-- The projection keeps, per part, what the record time ranges need, which are asked for often.
-- One row per transaction or reassignment; the nodes of a transaction are in events.
-- Import updates are apart, in imports: they are not history. The columns from
-- node_offset on are told by a node's own stream only.
CREATE TABLE IF NOT EXISTS updates
(
    stream                    LowCardinality(String),
    migration_id              Int64 CODEC(ZSTD(1)),
    record_time               DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id                 String CODEC(ZSTD(1)),
    kind                      LowCardinality(String) CODEC(ZSTD(1)),
    synchronizer_id           LowCardinality(String) CODEC(ZSTD(1)),
    encoding                  LowCardinality(String) CODEC(ZSTD(1)),
    workflow_id               String CODEC(ZSTD(1)),
    effective_at              DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    external_transaction_hash String CODEC(ZSTD(1)),
    root_events               Array(Int32) CODEC(ZSTD(1)),
    submitter                 LowCardinality(String) CODEC(ZSTD(1)),
    source_synchronizer       LowCardinality(String) CODEC(ZSTD(1)),
    target_synchronizer       LowCardinality(String) CODEC(ZSTD(1)),
    unassign_id               String CODEC(ZSTD(1)),
    reassignment_counter      Int64 CODEC(ZSTD(1)),
    contract_id               String CODEC(ZSTD(1)),
    node_offset               Int64 CODEC(Delta, ZSTD(1)),
    command_id                String CODEC(ZSTD(1)),
    paid_traffic_cost         Int64 DEFAULT -1 CODEC(ZSTD(1)),
    trace_context             String CODEC(ZSTD(1)),
    topology                  String CODEC(ZSTD(1)),
    extras                    String CODEC(ZSTD(1)),
    INDEX node_offset_range node_offset TYPE minmax GRANULARITY 1,
    INDEX update_id_bloom update_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX external_hash_bloom external_transaction_hash TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX contract_id_bloom contract_id TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION ranges
    (
        SELECT stream, migration_id, synchronizer_id, min(record_time), max(record_time)
        GROUP BY stream, migration_id, synchronizer_id
    )
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
