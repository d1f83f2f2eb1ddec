-- +goose Up
-- What upstreams say of the network that history does not tell, append-only: a row only
-- when the answer to an operation is another one than before. Of the rows of one operation
-- and arguments the latest counts. body is canonical JSON, cut to the members that are
-- known; empty when the upstream no longer has an answer.
CREATE TABLE IF NOT EXISTS network_facts
(
    stream     LowCardinality(String),
    operation  LowCardinality(String),
    arguments  String,
    valid_from DateTime64(6, 'UTC'),
    fetched_at DateTime64(6, 'UTC'),
    upstream   LowCardinality(String),
    sha256     String,
    body       String CODEC(ZSTD(3))
)
ENGINE = MergeTree
ORDER BY (stream, operation, arguments, valid_from)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256;
