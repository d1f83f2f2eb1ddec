-- +goose Up
-- What parties hold at the end of each hour in which their holdings move. See 0240.
CREATE TABLE IF NOT EXISTS balance_hours
(
    stream       LowCardinality(String) COMMENT 'Stream of the movements; scan is the public history',
    party        LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    instrument   LowCardinality(String) COMMENT 'ADMIN PARTY/ID of what it holds' CODEC(ZSTD(1)),
    migration_id Int64 COMMENT 'Migration of the movements, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive; 1900-01-01 for openings' CODEC(Delta, ZSTD(1)),
    unlocked     Decimal(38, 10) COMMENT 'What it holds at the end of the hour and can spend at once' CODEC(ZSTD(1)),
    locked       Decimal(38, 10) COMMENT 'What it holds then and cannot' CODEC(ZSTD(1)),
    held_before  Decimal(38, 10) COMMENT 'What it held before the hour, locked or not' CODEC(ZSTD(1)),
    first        Bool COMMENT 'Whether it never held any before' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, party, instrument, migration_id, hour)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
