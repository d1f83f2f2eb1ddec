-- +goose Up
-- See 0174. The filter of parties stays: nodes' streams are also searched for parties and templates
-- together.
ALTER TABLE events
    DROP INDEX IF EXISTS contract_id_bloom;
