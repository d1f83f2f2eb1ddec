-- +goose Up
-- What upstreams of one stream did not agree on, a row per answer: the content of none of
-- them is stored unless enough others agreed. Positions are as in table batches; digest is
-- the SHA-256 over the canonical JSON of what was compared, a line per item.
CREATE TABLE IF NOT EXISTS disagreements
(
    stream            LowCardinality(String),
    found_at          DateTime64(6, 'UTC'),
    compared          LowCardinality(String),
    after_migration   Int64,
    after_time        Int64,
    after_id          String,
    through_migration Int64,
    through_time      Int64,
    through_id        String,
    resolved          Bool,
    upstream          LowCardinality(String),
    items             UInt64,
    digest            String,
    agreed            Bool
)
ENGINE = MergeTree
ORDER BY (stream, found_at, upstream)
SETTINGS non_replicated_deduplication_window = 1000;
