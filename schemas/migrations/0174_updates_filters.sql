-- +goose Up
-- Nothing is looked for by Bloom filters over all of history any more: places lead there.
ALTER TABLE updates
    DROP INDEX IF EXISTS update_id_bloom,
    DROP INDEX IF EXISTS external_hash_bloom,
    DROP INDEX IF EXISTS contract_id_bloom;
