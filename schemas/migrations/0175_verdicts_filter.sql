-- +goose Up
-- See 0174.
ALTER TABLE verdicts
    DROP INDEX IF EXISTS update_id_bloom;
