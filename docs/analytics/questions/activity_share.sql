-- Which share of the activity of all apps has each app, round by round?
-- group: App operator
-- number: 28
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

SELECT activity_round AS round, JSONExtractString(record, 'party') AS provider, sum(JSONExtractUInt(record, 'weight')) AS weight,
    sum(weight) OVER (PARTITION BY round) AS of_all
FROM verdicts
ARRAY JOIN JSONExtractArrayRaw(activity_records) AS record
WHERE stream = 'scan' AND activity_round >= 0 AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY round, provider
ORDER BY round, weight DESC, provider

-- DuckDB
SELECT round_number AS round, record->>'party' AS provider, sum((record->>'weight')::BIGINT)::BIGINT AS weight,
    (sum(weight) OVER (PARTITION BY round_number))::BIGINT AS of_all
FROM (
    SELECT round_number, unnest(json_extract(records, '$[*]')) AS record
    FROM app_activity
    WHERE record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
)
GROUP BY round_number, provider
ORDER BY round, weight DESC, provider
