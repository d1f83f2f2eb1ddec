-- Of which templates are most contracts created?
-- group: Analyst
-- number: 13
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- count UInt32 = 10: how many
-- example: from=2026-07-01 to=2026-07-02

-- An assignment brings a contract from another synchronizer, and creates none.
SELECT concat(package_name, substring(template_id, position(template_id, ':'))) AS template, count() AS created
FROM events
WHERE stream = 'scan' AND kind = 'created' AND record_time >= {from:Date} AND record_time < {to:Date}
    AND update_id NOT IN (SELECT update_id FROM updates WHERE stream = 'scan' AND kind = 'assignment')
GROUP BY template
ORDER BY created DESC, template
LIMIT {count:UInt32}

-- DuckDB
SELECT template_name AS template, count(*) AS created
FROM events
WHERE kind = 'created' AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
GROUP BY template
ORDER BY created DESC, template
LIMIT getvariable('count')::INT
