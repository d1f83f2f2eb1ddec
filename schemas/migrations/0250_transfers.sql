-- +goose Up
-- Movements of coins from one party to another, a row for each receiver of a choice.
CREATE VIEW IF NOT EXISTS transfers AS
SELECT stream, migration_id, record_time, update_id, entry, event, counterparty AS sender, party AS receiver, instrument, amount, pocket, purpose, round,
       stated_round, choice, template, reference, reason
FROM movements
WHERE cause = 'transfer' AND amount > 0;
