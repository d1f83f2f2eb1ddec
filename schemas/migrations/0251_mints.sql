-- +goose Up
-- Movements of coins that came into being.
CREATE VIEW IF NOT EXISTS mints AS
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, amount, class, pocket, purpose, round, stated_round, choice, template, reference
FROM movements
WHERE cause = 'mint';
