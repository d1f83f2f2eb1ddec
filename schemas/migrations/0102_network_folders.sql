-- +goose Up
-- What is published in the network's own bulk layout, append-only: a row is all objects of
-- one kind in one folder, and of the rows of one kind and folder the one with the highest
-- version counts. Times are microseconds since 1970; that of the first folder's start is
-- year 1. objects is JSON: see docs/formats/network.md.
CREATE TABLE IF NOT EXISTS network_folders
(
    stream       LowCardinality(String),
    kind         LowCardinality(String),
    start_time   Int64,
    end_time     Int64,
    version      Int64,
    state        Enum8('withdrawn' = 0, 'published' = 1, 'staged' = 2, 'expired' = 3),
    objects      String CODEC(ZSTD(3)),
    object_count Int64,
    total_rows   Int64,
    total_bytes  Int64,
    written_at   DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stream, kind, start_time, end_time, version);
