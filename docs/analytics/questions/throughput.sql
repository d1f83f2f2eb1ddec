-- How many transactions are there each day, how many at the peak, and how many are private?
-- group: Analyst
-- number: 12
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

-- A private transaction was accepted and has no update in public history.
SELECT toDate(minute) AS day, sum(verdicts) AS transactions, sum(rejections) AS rejected, sum(hidden) AS private, max(verdicts) AS peak_minute
FROM (
    SELECT toStartOfMinute(record_time) AS minute, count() AS verdicts,
        countIf(result = 'VERDICT_RESULT_REJECTED') AS rejections,
        countIf(result = 'VERDICT_RESULT_ACCEPTED' AND update_id NOT IN (
            SELECT update_id FROM updates WHERE stream = 'scan' AND record_time >= {from:Date} AND record_time < {to:Date})) AS hidden
    FROM verdicts
    WHERE stream = 'scan' AND record_time >= {from:Date} AND record_time < {to:Date}
    GROUP BY minute
)
GROUP BY day
ORDER BY day

-- DuckDB
SELECT minute::DATE AS day, sum(verdicts)::BIGINT AS transactions, sum(rejections)::BIGINT AS rejected, sum(hidden)::BIGINT AS private, max(verdicts) AS peak_minute
FROM (
    SELECT date_trunc('minute', v.record_time) AS minute, count(*) AS verdicts,
        count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED') AS rejections,
        count(*) FILTER (verdict_result = 'VERDICT_RESULT_ACCEPTED' AND u.update_id IS NULL) AS hidden
    FROM verdicts AS v LEFT JOIN updates AS u USING (migration_id, record_time, update_id)
    WHERE v.record_time >= getvariable('from')::DATE AND v.record_time < getvariable('to')::DATE
    GROUP BY minute
)
GROUP BY day
ORDER BY day
