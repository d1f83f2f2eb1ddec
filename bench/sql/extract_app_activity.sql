-- Rows of table app_activity out of the raw elements; the position is that of the verdict.
INSERT INTO app_activity (stream, migration_id, record_time, update_id, round_number, records)
SELECT 'scan', v.migration_id, v.record_time, v.update_id, a.round_number, a.records
FROM
(
    SELECT JSONExtract(verdict, 'Tuple(migration_id Int64, record_time DateTime64(6, \'UTC\'), update_id String)') AS v,
           JSONExtract(app_activity_records, 'Tuple(records String, round_number Int64)') AS a
    FROM raw_events
    WHERE app_activity_records != ''
)
