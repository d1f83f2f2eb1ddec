-- +goose Up
-- How many rows a batch has in places: see the other counts.
ALTER TABLE batches
    ADD COLUMN IF NOT EXISTS place_rows Int64 DEFAULT -1;
