-- How many parties submit transactions on a day, in a week and in a month?
-- group: Analyst
-- number: 7
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

-- Weeks and months are the 7 and 30 days that end with the day. Rejected transactions do not count.
SELECT day, uniqExactIf(party, ago = 0) AS of_day, uniqExactIf(party, ago < 7) AS of_week, uniqExact(party) AS of_month
FROM (
    SELECT DISTINCT toDate(record_time) AS active, arrayJoin(submitting_parties) AS party
    FROM verdicts
    WHERE stream = 'scan' AND result = 'VERDICT_RESULT_ACCEPTED' AND record_time >= {from:Date} - 29 AND record_time < {to:Date}
)
ARRAY JOIN range(30) AS ago, arrayMap(n -> active + n, range(30)) AS day
WHERE day >= {from:Date} AND day < {to:Date} AND day <= (SELECT toDate(max(record_time)) FROM verdicts WHERE stream = 'scan')
GROUP BY day
ORDER BY day

-- DuckDB
SELECT day, count(DISTINCT party) FILTER (ago = 0) AS of_day, count(DISTINCT party) FILTER (ago < 7) AS of_week, count(DISTINCT party) AS of_month
FROM (
    SELECT DISTINCT active + ago::INT AS day, ago, party
    FROM (
        SELECT record_time::DATE AS active, unnest(submitting_parties) AS party
        FROM verdicts
        WHERE verdict_result = 'VERDICT_RESULT_ACCEPTED'
            AND record_time >= getvariable('from')::DATE - 29 AND record_time < getvariable('to')::DATE
    ), range(30) AS r(ago)
)
WHERE day >= getvariable('from')::DATE AND day < getvariable('to')::DATE AND day <= (SELECT max(record_time)::DATE FROM verdicts)
GROUP BY day
ORDER BY day
