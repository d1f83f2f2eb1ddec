-- Rows of table verdicts out of the raw elements, with what came with them.
INSERT INTO verdicts
    (stream, migration_id, record_time, update_id, synchronizer_id, finalization_time, submitting_parties,
     submitting_participant_uid, result, mediator_group, round_number, views_shape, views_scalars,
     traffic_cost, traffic_envelopes, activity_round, activity_records)
SELECT 'scan', v.migration_id, v.record_time, v.update_id, v.domain_id, v.finalization_time, v.submitting_parties,
       v.submitting_participant_uid, v.verdict_result, v.mediator_group, ifNull(v.round_number, -1), '\x03', concat(v.transaction_views, '\0'),
       ifNull(t.total_traffic_cost, -1), t.envelope_traffic_summaries, ifNull(a.round_number, -1), a.records
FROM
(
    SELECT JSONExtract(verdict, 'Tuple(
               domain_id String, finalization_time DateTime64(6, \'UTC\'), mediator_group Int32, migration_id Int64,
               record_time DateTime64(6, \'UTC\'), round_number Nullable(Int64), submitting_participant_uid String,
               submitting_parties Array(String), transaction_views String, update_id String, verdict_result String)') AS v,
           JSONExtract(traffic_summary, 'Tuple(envelope_traffic_summaries String, total_traffic_cost Nullable(Int64))') AS t,
           JSONExtract(app_activity_records, 'Tuple(records String, round_number Nullable(Int64))') AS a
    FROM raw_events
    WHERE verdict != ''
)
