-- +goose Up
-- The typed tables, see schemas/typed: of one name the row written last counts. fill names those that were
-- filled together: the journal of their back-fill is STREAM/typed/FILL. shape is that of the types that they
-- were planned by.
CREATE TABLE IF NOT EXISTS projections
(
    table_name   String,
    kind         Enum8('contracts' = 1, 'choice' = 2, 'interface_choice' = 3),
    package_name LowCardinality(String),
    entity       String,
    choice       String,
    fill         Int64,
    shape        UInt64,
    written_at   DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (table_name, written_at)
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 1000;
