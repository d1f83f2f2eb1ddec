-- +goose Up
-- Published segments of the bulk objects, append-only: of the rows of one segment
-- the one with the highest version counts. A segment that is withdrawn is not listed,
-- and its objects may be overwritten. segment_date is a UTC day such as 2026-07-01,
-- or an hour such as 2026-07-01T05, or empty for the imports of a migration. start_time (exclusive) and end_time
-- (inclusive) are microseconds since 1970, because imports stand at year 1.
-- root is the Merkle root in the manifest and chain_link the segment's link in the chain,
-- both in hex; chain_link is empty while it has none.
-- lookup_index describes the lookup objects of the segment, lookup_objects counts them;
-- both are empty while it has none.
CREATE TABLE IF NOT EXISTS segments
(
    stream          LowCardinality(String),
    migration_id    Int64,
    segment_date    String,
    version         Int64,
    state           Enum8('withdrawn' = 0, 'published' = 1, 'staged' = 2, 'expired' = 3),
    start_time      Int64,
    end_time        Int64,
    manifest_key    String,
    manifest_sha256 String,
    manifest        String CODEC(ZSTD(3)),
    object_count    Int64,
    total_rows      Int64,
    total_bytes     Int64,
    root            String,
    chain_link      String,
    lookup_index    String CODEC(ZSTD(3)),
    lookup_objects  Int64,
    written_at      DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stream, migration_id, segment_date, version);
