-- Which transactions were rejected, and who submitted them?
-- group: Compliance
-- number: 44
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

SELECT record_time, update_id, submitting_participant_uid AS participant, submitting_parties AS parties
FROM verdicts
WHERE stream = 'scan' AND result = 'VERDICT_RESULT_REJECTED' AND record_time >= {from:Date} AND record_time < {to:Date}
ORDER BY migration_id, record_time, update_id

-- DuckDB
SELECT record_time, update_id, submitting_participant_uid AS participant, submitting_parties AS parties
FROM verdicts
WHERE verdict_result = 'VERDICT_RESULT_REJECTED' AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
ORDER BY migration_id, record_time, update_id
