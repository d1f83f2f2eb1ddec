-- +goose Up
-- What each update adds to what a party has in a mining round: rewards, traffic, and coins as of round 0. Derived
-- with movements, of public history alone. A row is of one update: record times are unique in a migration.
CREATE TABLE IF NOT EXISTS round_entries
(
    stream            LowCardinality(String) COMMENT 'Stream of the update, scan' CODEC(ZSTD(1)),
    round             Int64 COMMENT 'Mining round that the result of the choice names, or else the newest that was open; -1 for what the stream begins with' CODEC(Delta, ZSTD(1)),
    party             LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    migration_id      Int64 COMMENT 'Migration of the update, from 0' CODEC(ZSTD(1)),
    record_time       DateTime64(6, 'UTC') COMMENT 'Record time of the update; 1900-01-01 for what the stream begins with' CODEC(Delta, ZSTD(1)),
    app_rewards       Decimal(38, 10) COMMENT 'Coins that the party minted as rewards of apps' CODEC(ZSTD(1)),
    validator_rewards Decimal(38, 10) COMMENT 'Coins that the party minted as rewards of validators, for liveness too' CODEC(ZSTD(1)),
    traffic_bytes     Int64 COMMENT 'Traffic that the party bought, in bytes' CODEC(ZSTD(1)),
    traffic_purchases Int64 COMMENT 'How often it bought traffic' CODEC(ZSTD(1)),
    traffic_spent     Decimal(38, 10) COMMENT 'Coins that it paid for traffic' CODEC(ZSTD(1)),
    initial_change    Decimal(38, 10) COMMENT 'Change of its coins as of round 0: a coin counts its amount and its fee for each round before its creation' CODEC(ZSTD(1)),
    rate_change       Decimal(38, 10) COMMENT 'Change of the fees of its coins for a round' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, round, party, migration_id, record_time)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
