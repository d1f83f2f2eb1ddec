-- +goose Up
-- The transaction log of wallets: what the updates of a node's own stream did to the coins of
-- a party, in the order of node_offset and then entry, which counts from 0 within the update
-- and party. Amounts are signed: what a party paid is negative. What an entry of its kind does
-- not tell is empty or 0.
CREATE TABLE IF NOT EXISTS wallet_log
(
    stream           LowCardinality(String),
    party            LowCardinality(String) CODEC(ZSTD(1)),
    node_offset      Int64 CODEC(Delta, ZSTD(1)),
    entry            Int32 CODEC(ZSTD(1)),
    event_id         String CODEC(ZSTD(1)),
    kind             LowCardinality(String) CODEC(ZSTD(1)),
    template_id      LowCardinality(String) CODEC(ZSTD(1)),
    choice           LowCardinality(String) CODEC(ZSTD(1)),
    amulet_operation LowCardinality(String) CODEC(ZSTD(1)),
    interface_id     LowCardinality(String) CODEC(ZSTD(1)),
    effective_at     DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    sender           LowCardinality(String) CODEC(ZSTD(1)),
    sender_amount    Decimal(38, 10) CODEC(ZSTD(1)),
    receivers        Array(LowCardinality(String)) CODEC(ZSTD(1)),
    receiver_amounts Array(Decimal(38, 10)) CODEC(ZSTD(1)),
    holding_fees     Decimal(38, 10) CODEC(ZSTD(1)),
    app_rewards      Decimal(38, 10) CODEC(ZSTD(1)),
    validator_rewards Decimal(38, 10) CODEC(ZSTD(1)),
    sv_rewards       Decimal(38, 10) CODEC(ZSTD(1)),
    development_fund Decimal(38, 10) CODEC(ZSTD(1)),
    instruction_receiver LowCardinality(String) CODEC(ZSTD(1)),
    instruction_amount Decimal(38, 10) CODEC(ZSTD(1)),
    instruction_id   String CODEC(ZSTD(1)),
    description      String CODEC(ZSTD(1)),
    details          String CODEC(ZSTD(1)),
    INDEX event_id_bloom event_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY stream
ORDER BY (stream, party, node_offset, entry)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
