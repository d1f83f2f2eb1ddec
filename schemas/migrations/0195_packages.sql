-- +goose Up
-- Compiled packages, each once, as an operator gave them or a node served them. package_id is the
-- SHA-256 of payload in hex; name, version, lf (of the compiled language) and upgraded_id, which is
-- mostly empty, are what it says of itself. source is the file or the node that it came from.
CREATE TABLE IF NOT EXISTS packages
(
    package_id  String,
    name        LowCardinality(String),
    version     String,
    lf          LowCardinality(String),
    upgraded_id String,
    payload     String CODEC(ZSTD(3)),
    source      LowCardinality(String),
    seen_at     DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY package_id
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 1000;
