-- +goose Up
-- The columns of typed tables for parts of values, fixed when first planned. path says which part.
CREATE TABLE IF NOT EXISTS projection_columns
(
    table_name  String,
    number      Int32,
    column_name String,
    column_type String,
    path        String,
    written_at  DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (table_name, number)
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 1000;
