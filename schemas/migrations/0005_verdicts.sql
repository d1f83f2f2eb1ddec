-- +goose Up
-- The mediator's decisions, also on rejected and private transactions.
-- round_number is -1 where the upstream names no round.
CREATE TABLE IF NOT EXISTS verdicts
(
    stream                     LowCardinality(String),
    migration_id               Int64 CODEC(ZSTD(1)),
    record_time                DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id                  String CODEC(ZSTD(1)),
    synchronizer_id            LowCardinality(String) CODEC(ZSTD(1)),
    finalization_time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    submitting_parties         Array(LowCardinality(String)) CODEC(ZSTD(1)),
    submitting_participant_uid LowCardinality(String) CODEC(ZSTD(1)),
    result                     LowCardinality(String) CODEC(ZSTD(1)),
    mediator_group             Int32 CODEC(ZSTD(1)),
    round_number               Int64 CODEC(ZSTD(1)),
    views                      String CODEC(ZSTD(3)),
    INDEX update_id_bloom update_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24;
