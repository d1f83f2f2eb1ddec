-- Which price of the coin does each mining round use?
-- group: Analyst
-- number: 10
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: from=2026-07-01 to=2026-07-02

-- The price is voted by the super-validators. A contract that a migration carries over is created once only.
SELECT JSONExtractInt(argument, 'record', 'fields', 2, 'value', 'record', 'fields', 1, 'value', 'int64') AS round, created_time AS created,
    fromUnixTimestamp64Micro(toInt64(JSONExtractString(argument, 'record', 'fields', 4, 'value', 'timestamp')), 'UTC') AS opens_at,
    toDecimal128(JSONExtractString(argument, 'record', 'fields', 3, 'value', 'numeric'), 10) AS usd
FROM (
    SELECT created_time, argument FROM contracts_live
    WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:OpenMiningRound'
        AND created_time >= {from:Date} AND created_time < {to:Date}
    UNION ALL
    SELECT created_time, argument FROM contracts_archived
    WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:OpenMiningRound'
        AND created_time >= {from:Date} AND created_time < {to:Date}
)
ORDER BY round

-- DuckDB
SELECT (create_arguments->>'$.record.fields[1].value.record.fields[0].value.int64')::BIGINT AS round, record_time AS created,
    make_timestamp((create_arguments->>'$.record.fields[3].value.timestamp')::BIGINT) AS opens_at,
    (create_arguments->>'$.record.fields[2].value.numeric')::DECIMAL(38, 10) AS usd
FROM events
WHERE kind = 'created' AND template_name = 'splice-amulet:Splice.Round:OpenMiningRound'
    AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
ORDER BY round
