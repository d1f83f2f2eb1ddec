-- +goose Up
-- The writer's journal: an intent before a batch's rows are inserted, a commit after. The
-- last commit of a stream is its watermark; an intent without a commit is a batch to
-- repeat. A writer claims the stream before it reads where that stands: an intent counts
-- only if no intent of a higher epoch stands beside it. A writer that meets a later claim
-- withdraws its intent and ends. Times are microseconds since 1970, because a position may
-- stand at year 1, which DateTime64 cannot hold.
CREATE TABLE IF NOT EXISTS batches
(
    stream            LowCardinality(String),
    sequence          Int64,
    state             Enum8('intent' = 1, 'commit' = 2, 'withdrawn' = 3, 'claim' = 4),
    after_migration   Int64,
    after_time        Int64,
    after_id          String,
    after_offset      Int64,
    through_migration Int64,
    through_time      Int64,
    through_id        String,
    through_offset    Int64,
    items             UInt64,
    events            UInt64,
    hash              String,
    writer            String,
    epoch             Int64,
    written_at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stream, sequence, state)
SETTINGS non_replicated_deduplication_window = 1000;
