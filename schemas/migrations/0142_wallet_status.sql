-- +goose Up
-- What became of transfer offers and traffic requests, by the tracking id that their maker gave
-- them: a row for each step, of which the one with the highest node_offset, and then step,
-- counts. An offer has its rows under both of its parties that are on the node.
CREATE TABLE IF NOT EXISTS wallet_status
(
    stream      LowCardinality(String),
    party       LowCardinality(String) CODEC(ZSTD(1)),
    kind        Enum8('offer' = 1, 'traffic' = 2) CODEC(ZSTD(1)),
    tracking_id String CODEC(ZSTD(1)),
    node_offset Int64 CODEC(ZSTD(1)),
    step        Int32 CODEC(ZSTD(1)),
    sender      LowCardinality(String) CODEC(ZSTD(1)),
    receiver    LowCardinality(String) CODEC(ZSTD(1)),
    status      LowCardinality(String) CODEC(ZSTD(1)),
    update_id   String CODEC(ZSTD(1)),
    contract_id String CODEC(ZSTD(1)),
    failure     LowCardinality(String) CODEC(ZSTD(1)),
    reason      String CODEC(ZSTD(1)),
    effective_at DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY stream
ORDER BY (stream, party, kind, tracking_id, node_offset, step)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
