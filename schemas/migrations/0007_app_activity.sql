-- +goose Up
-- App activity records, which stand with their verdicts; records as canonical JSON.
CREATE VIEW IF NOT EXISTS app_activity AS
SELECT stream, migration_id, record_time, update_id, activity_round AS round_number, activity_records AS records
FROM verdicts
WHERE activity_records != '';
