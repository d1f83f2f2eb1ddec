-- +goose Up
-- Contracts of a node's own stream that wallets work with, by stakeholder on the node: a row
-- for each party and contract when it becomes active there, and another one, with ended set
-- and nothing else told, when it no longer is. The row of a contract with the highest
-- node_offset says how it stands, so that both may be there at any offset; housekeeping drops
-- the rows of what has ended. A contract that becomes active and ends within one range of the
-- journal has none. amount, rate, round, expires_at, owner, lock_holders and lookup_key are
-- taken out of the payload where the template has them. Amounts of coins are as they were at
-- creation.
CREATE TABLE IF NOT EXISTS wallet_contracts
(
    stream          LowCardinality(String),
    party           LowCardinality(String) CODEC(ZSTD(1)),
    template        LowCardinality(String) CODEC(ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    node_offset     Int64 CODEC(ZSTD(1)),
    ended           Bool CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    created_in      String CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    blob            String CODEC(ZSTD(3)),
    lookup_key      String CODEC(ZSTD(1)),
    owner           LowCardinality(String) CODEC(ZSTD(1)),
    amount          Decimal(38, 10) CODEC(ZSTD(1)),
    rate            Decimal(38, 10) CODEC(ZSTD(1)),
    round           Int64 CODEC(ZSTD(1)),
    expires_at      DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    lock_holders    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    INDEX contract_id_bloom contract_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX lookup_key_bloom lookup_key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY stream
ORDER BY (stream, party, template, contract_id, node_offset)
SETTINGS index_granularity = 512, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, enable_block_number_column = 1, enable_block_offset_column = 1;
