-- +goose Up
-- Collections of garbage in the bucket that have ended.
CREATE TABLE IF NOT EXISTS collections
(
    stream   LowCardinality(String),
    ended_at DateTime64(6, 'UTC'),
    expired  Int64,
    objects  Int64,
    bytes    Int64,
    uploads  Int64
)
ENGINE = MergeTree
ORDER BY (stream, ended_at);
