-- +goose Up
-- Objects that were staged for publishing and of which a peer has other bytes, a row per
-- object and pair of digests. Nothing of their segment or folder is published while they
-- differ. Digests are hex; that of a peer that has an object where we have none is in theirs,
-- and ours is empty.
CREATE TABLE IF NOT EXISTS export_disagreements
(
    stream     LowCardinality(String),
    unit       String,
    peer       LowCardinality(String),
    object_key String,
    ours       String,
    theirs     String,
    found_at   DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(found_at)
ORDER BY (stream, unit, peer, object_key, ours, theirs);
