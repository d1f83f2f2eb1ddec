-- +goose Up
-- Which parties are active in each hour. See 0240.
CREATE TABLE IF NOT EXISTS party_hours
(
    stream       LowCardinality(String) COMMENT 'scan, or scan/side for verdicts that came late',
    party        LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    migration_id Int64 COMMENT 'Migration, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive' CODEC(Delta, ZSTD(1)),
    transactions Int64 COMMENT 'Accepting verdicts on transactions that it submitted, alone or with others' CODEC(ZSTD(1)),
    traffic      Int64 COMMENT 'Traffic of what it submitted, in bytes, accepted or not' CODEC(ZSTD(1)),
    active       Bool COMMENT 'Whether it signs, observes or acts in an event of public history' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, migration_id, hour, party)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
