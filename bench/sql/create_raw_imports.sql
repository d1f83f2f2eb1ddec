-- The elements of import-updates as they came, a column per member that is needed.
CREATE TABLE raw_imports
(
    effective_at    String,
    events_by_id    String,
    migration_id    Int64,
    synchronizer_id String,
    update_id       String,
    workflow_id     String
)
ENGINE = MergeTree
ORDER BY tuple()
