-- +goose Up
-- What a stream has reached once, such as the end of its upstream's history
-- ('backfilled'), or why it must not go on ('stopped: ' and the reason). Several rows of
-- one name mean the same as one.
CREATE TABLE IF NOT EXISTS milestones
(
    stream     LowCardinality(String),
    name       LowCardinality(String),
    reached_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stream, name, reached_at)
SETTINGS non_replicated_deduplication_window = 100;
