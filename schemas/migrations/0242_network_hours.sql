-- +goose Up
-- How much happens on the network in each hour. See 0240.
CREATE TABLE IF NOT EXISTS network_hours
(
    stream             LowCardinality(String) COMMENT 'scan, or scan/side for verdicts that came late; a verdict counts once',
    migration_id       Int64 COMMENT 'Migration, from 0' CODEC(ZSTD(1)),
    hour               DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive' CODEC(Delta, ZSTD(1)),
    updates            Int64 COMMENT 'Updates of public history' CODEC(ZSTD(1)),
    transactions       Int64 COMMENT 'Those that are transactions' CODEC(ZSTD(1)),
    events             Int64 COMMENT 'Their creates and exercises' CODEC(ZSTD(1)),
    accepted           Int64 COMMENT 'Verdicts that accept' CODEC(ZSTD(1)),
    rejected           Int64 COMMENT 'Verdicts that reject' CODEC(ZSTD(1)),
    undecided          Int64 COMMENT 'Verdicts with another result' CODEC(ZSTD(1)),
    private            Int64 COMMENT 'Accepting verdicts on updates that public history does not have' CODEC(ZSTD(1)),
    with_traffic       Int64 COMMENT 'Verdicts with a summary of traffic' CODEC(ZSTD(1)),
    traffic            Int64 COMMENT 'Traffic by these summaries, in bytes' CODEC(ZSTD(1)),
    updates_in_minute  Int64 COMMENT 'Most updates in a minute of it' CODEC(ZSTD(1)),
    updates_in_second  Int64 COMMENT 'The same in a second' CODEC(ZSTD(1)),
    verdicts_in_minute Int64 COMMENT 'Most verdicts in a minute' CODEC(ZSTD(1)),
    verdicts_in_second Int64 COMMENT 'The same in a second' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, migration_id, hour)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
