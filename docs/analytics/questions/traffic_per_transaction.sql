-- How much traffic does a transaction cost?
-- group: Analyst
-- number: 11
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

-- In bytes; the mean is rounded down. Verdicts without a summary of traffic count for the coverage only.
SELECT toDate(record_time) AS day, count() AS verdicts, countIf(traffic_cost >= 0) AS with_traffic,
    sumIf(traffic_cost, traffic_cost >= 0) AS bytes, intDiv(bytes, with_traffic) AS mean,
    quantileExactLowIf(0.5)(traffic_cost, traffic_cost >= 0) AS median, max(traffic_cost) AS largest
FROM verdicts
WHERE stream = 'scan' AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day
HAVING with_traffic > 0
ORDER BY day

-- DuckDB
SELECT v.record_time::DATE AS day, count(*) AS verdicts, count(total_traffic_cost) AS with_traffic,
    sum(total_traffic_cost)::BIGINT AS bytes, bytes // with_traffic AS mean,
    quantile_disc(total_traffic_cost, 0.5) AS median, max(total_traffic_cost) AS largest
FROM verdicts AS v LEFT JOIN traffic USING (migration_id, record_time, update_id)
WHERE v.record_time >= getvariable('from')::DATE AND v.record_time < getvariable('to')::DATE
GROUP BY day
HAVING count(total_traffic_cost) > 0
ORDER BY day
