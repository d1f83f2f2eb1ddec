-- +goose Up
-- Where the updates of a node's own stream are that a party sees: a row for each party that
-- is a witness of an event of the update. party_key is xxHash64 of the party; two parties
-- may have one, so that what is found is more than what is looked for.
CREATE TABLE IF NOT EXISTS party_offsets
(
    stream      LowCardinality(String),
    party_key   UInt64 CODEC(ZSTD(1)),
    node_offset Int64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, party_key, node_offset)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, non_replicated_deduplication_window = 1000;
