-- +goose Up
-- Movements of coins that ceased to be, with amounts above 0.
CREATE VIEW IF NOT EXISTS burns AS
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, -amount AS amount, class, pocket, purpose, round, stated_round, choice, template, reference
FROM movements
WHERE cause = 'burn';
