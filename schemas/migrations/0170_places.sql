-- +goose Up
-- Where updates stand, by what they are looked for: a row for each update and each verdict by its
-- update id ('update', 'verdict'), for each event by its contract, apart for those that begin or
-- end it ('contract') and for other exercises ('exercise'), for each unassignment by its contract
-- ('contract'), for each external transaction by its hash ('hash'), and for each party of an update
-- ('party'): in public history the signatories, observers and actors of its events, on a node their
-- witnesses. place_key is xxHash64 of stream, kind and text, with spaces between; two may have one,
-- so that what is found is more than what is looked for. Written with the batch. To look a text up is a binary search,
-- whatever the length of history.
CREATE TABLE IF NOT EXISTS places
(
    stream       LowCardinality(String),
    kind         LowCardinality(String),
    place_key    UInt64 CODEC(Delta, ZSTD(1)),
    node_offset  Int64 CODEC(Delta, ZSTD(1)),
    migration_id Int64 CODEC(ZSTD(1)),
    record_time  DateTime64(6, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (place_key, node_offset, migration_id, record_time)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, non_replicated_deduplication_window = 1000;
