-- What is burnt each hour, and for what?
-- group: Analyst
-- number: 3
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

SELECT toStartOfHour(record_time) AS hour,
    -sumIf(amount, class = 'traffic') AS traffic,
    -sumIf(amount, class = 'fee') AS fees,
    -sumIf(amount, class = 'name') AS names,
    -sumIf(amount, class = 'preapproval') AS preapprovals,
    -sumIf(amount, class = 'expiry') AS expiry,
    -sum(amount) AS burnt
FROM movements
WHERE stream = 'scan' AND cause = 'burn' AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY hour
ORDER BY hour

-- DuckDB
SELECT date_trunc('hour', record_time) AS hour,
    coalesce(-sum(amount) FILTER (class = 'traffic'), 0) AS traffic,
    coalesce(-sum(amount) FILTER (class = 'fee'), 0) AS fees,
    coalesce(-sum(amount) FILTER (class = 'name'), 0) AS names,
    coalesce(-sum(amount) FILTER (class = 'preapproval'), 0) AS preapprovals,
    coalesce(-sum(amount) FILTER (class = 'expiry'), 0) AS expiry,
    -sum(amount) AS burnt
FROM movements
WHERE cause = 'burn' AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
GROUP BY hour
ORDER BY hour
