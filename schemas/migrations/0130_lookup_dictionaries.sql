-- +goose Up
-- What the bodies of lookup_rows have in common: samples of history, which zstd refers back
-- to. Frames name their dictionary; 0 is none. Without its dictionary a body cannot be read.
CREATE TABLE IF NOT EXISTS lookup_dictionaries
(
    stream  LowCardinality(String),
    id      UInt32,
    content String CODEC(ZSTD(3))
)
ENGINE = MergeTree
ORDER BY (stream, id)
SETTINGS non_replicated_deduplication_window = 1000;
