-- How far the copy has come, on the first shard of the target. While this table has its name no command
-- uses the store; it is renamed when the copy is complete. step orders the rows: of those with one table
-- and partition the last one counts. The row without a table has the digest of the source's journal.
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
