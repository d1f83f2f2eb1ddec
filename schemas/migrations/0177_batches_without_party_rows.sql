-- +goose Up
-- See 0173.
ALTER TABLE batches
    DROP COLUMN IF EXISTS party_rows;
