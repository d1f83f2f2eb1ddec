-- +goose Up
-- Traffic summaries, which stand with their verdicts; total_cost in bytes, envelopes as
-- canonical JSON.
CREATE VIEW IF NOT EXISTS traffic AS
SELECT stream, migration_id, record_time, update_id, traffic_cost AS total_cost, traffic_envelopes AS envelopes
FROM verdicts
WHERE traffic_cost >= 0;
