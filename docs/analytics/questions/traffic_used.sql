-- How much traffic do the transactions of a party cost each day?
-- group: App operator
-- number: 31
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 from=2026-07-01 to=2026-07-02

SELECT toDate(record_time) AS day, count() AS transactions, countIf(result = 'VERDICT_RESULT_REJECTED') AS rejected,
    sumIf(traffic_cost, traffic_cost >= 0) AS bytes
FROM verdicts
WHERE stream = 'scan' AND has(submitting_parties, {party:String}) AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day
ORDER BY day

-- DuckDB
SELECT v.record_time::DATE AS day, count(*) AS transactions, count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED') AS rejected,
    coalesce(sum(total_traffic_cost), 0)::BIGINT AS bytes
FROM verdicts AS v LEFT JOIN traffic USING (migration_id, record_time, update_id)
WHERE list_contains(submitting_parties, getvariable('party')) AND v.record_time >= getvariable('from')::DATE AND v.record_time < getvariable('to')::DATE
GROUP BY day
ORDER BY day
