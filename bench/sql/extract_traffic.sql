-- Rows of table traffic out of the raw elements; the position is that of the verdict.
INSERT INTO traffic (stream, migration_id, record_time, update_id, total_cost, envelopes)
SELECT 'scan', v.migration_id, v.record_time, v.update_id, t.total_traffic_cost, t.envelope_traffic_summaries
FROM
(
    SELECT JSONExtract(verdict, 'Tuple(migration_id Int64, record_time DateTime64(6, \'UTC\'), update_id String)') AS v,
           JSONExtract(traffic_summary, 'Tuple(envelope_traffic_summaries String, total_traffic_cost Int64)') AS t
    FROM raw_events
    WHERE traffic_summary != ''
)
