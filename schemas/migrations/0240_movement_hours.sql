-- +goose Up
-- The rollups, which sum public history up by hours: (start, end] of UTC, in each migration. A row is written once
-- its hour is over. See docs/analytics/metrics.md.
CREATE TABLE IF NOT EXISTS movement_hours
(
    stream       LowCardinality(String) COMMENT 'Stream of the movements; scan is the public history',
    migration_id Int64 COMMENT 'Migration of the movements, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive; 1900-01-01 for openings' CODEC(Delta, ZSTD(1)),
    round        Int64 COMMENT 'Newest mining round that was open, -1 if none was' CODEC(Delta, ZSTD(1)),
    instrument   LowCardinality(String) COMMENT 'ADMIN PARTY/ID of what is held' CODEC(ZSTD(1)),
    pocket       Enum8('unlocked' = 1, 'locked' = 2) COMMENT 'Whether the holdings can be spent at once' CODEC(ZSTD(1)),
    cause        Enum8('transfer' = 1, 'mint' = 2, 'burn' = 3, 'lock' = 4, 'opening' = 5, 'unexplained' = 6) COMMENT 'Why, as in movements' CODEC(ZSTD(1)),
    class        LowCardinality(String) COMMENT 'Kind of a mint or burn, as in movements; else empty' CODEC(ZSTD(1)),
    purpose      LowCardinality(String) COMMENT 'What the outermost choice that is known is for, as in movements' CODEC(ZSTD(1)),
    amount       Decimal(38, 10) COMMENT 'Sum of the amounts: the change of supply' CODEC(ZSTD(1)),
    movements    Int64 COMMENT 'Rows of movements' CODEC(ZSTD(1)),
    transfers    Int64 COMMENT 'Those by which a party receives coins of another one' CODEC(ZSTD(1)),
    volume       Decimal(38, 10) COMMENT 'What is received by them' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, migration_id, hour, round, instrument, pocket, cause, class, purpose)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
