-- +goose Up
-- How many rows a batch has in each table, by which rows that were lost are noticed: of a
-- stream's own batches those of updates, imports, verdicts and party_offsets, beside events,
-- and of the journal of lifetimes those of contracts_live and contracts_archived together.
-- -1 is not known: another journal, or an earlier version wrote the line.
ALTER TABLE batches
    ADD COLUMN IF NOT EXISTS update_rows   Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS import_rows   Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS verdict_rows  Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS party_rows    Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS lifetime_rows Int64 DEFAULT -1;
