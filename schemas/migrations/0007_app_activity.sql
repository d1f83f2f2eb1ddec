-- +goose Up
-- App activity records; records as canonical JSON.
CREATE TABLE IF NOT EXISTS app_activity
(
    stream       LowCardinality(String),
    migration_id Int64 CODEC(ZSTD(1)),
    record_time  DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id    String CODEC(ZSTD(1)),
    round_number Int64 CODEC(ZSTD(1)),
    records      String CODEC(ZSTD(3))
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24;
