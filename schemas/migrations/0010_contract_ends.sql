-- +goose Up
-- Scratch space of the lifetimes step: the ends of one range, by contract. Emptied
-- before each use; only ever read by the lightweight update that follows.
CREATE TABLE IF NOT EXISTS contract_ends
(
    contract_id String,
    archived_at DateTime64(6, 'UTC'),
    archived_offset Int64
)
ENGINE = Join(ANY, LEFT, contract_id);
