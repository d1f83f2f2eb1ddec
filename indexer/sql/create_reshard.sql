-- How far the copy of a store into a cluster has come, on the first shard: see package reshard. step orders
-- the rows: of those with one table and partition the last one counts. That without a table has the
-- digest of the source's journal, and is done when the copy is complete. Until then no command uses the
-- store.
CREATE TABLE IF NOT EXISTS reshard
(
    step         UInt64,
    table_name   String,
    partition_id String,
    attempt      String,
    source_shard Int64,
    copied       Int64,
    piece_rows   Int64,
    done         Bool,
    noted_at     DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY step
