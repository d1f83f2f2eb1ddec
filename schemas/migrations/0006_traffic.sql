-- +goose Up
-- Traffic summaries; total_cost in bytes, envelopes as canonical JSON.
CREATE TABLE IF NOT EXISTS traffic
(
    stream       LowCardinality(String),
    migration_id Int64 CODEC(ZSTD(1)),
    record_time  DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id    String CODEC(ZSTD(1)),
    total_cost   Int64 CODEC(ZSTD(1)),
    envelopes    String CODEC(ZSTD(3))
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24;
