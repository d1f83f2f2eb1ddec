-- +goose Up
-- Objects of tables that are derived from history stand beside those of a segment, as lookup objects do:
-- what describes them, and its SHA-256, by which listings tell whether a segment has them.
ALTER TABLE segments
    ADD COLUMN IF NOT EXISTS derived String,
    ADD COLUMN IF NOT EXISTS derived_sha256 String;
