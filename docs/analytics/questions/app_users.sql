-- How many parties use an app each day, and how many of them for the first time?
-- group: App operator
-- number: 30
-- package String: name of the app's package
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: package=harbor-logistics from=2026-07-01 to=2026-07-02

SELECT day, uniqExact(user) AS users, uniqExactIf(user, day = first_day) AS new_users, sum(actions) AS actions
FROM (
    SELECT toDate(record_time) AS day, arrayJoin(acting_parties) AS user, count() AS actions, min(day) OVER (PARTITION BY user) AS first_day
    FROM events
    WHERE stream = 'scan' AND kind = 'exercised' AND package_name = {package:String}
    GROUP BY day, user
)
WHERE day >= {from:Date} AND day < {to:Date}
GROUP BY day
ORDER BY day

-- DuckDB
SELECT day, count(DISTINCT party) AS users, count(DISTINCT party) FILTER (day = first_day) AS new_users, sum(actions)::BIGINT AS actions
FROM (
    SELECT day, party, count(*) AS actions, min(day) OVER (PARTITION BY party) AS first_day
    FROM (
        SELECT record_time::DATE AS day, unnest(acting_parties) AS party
        FROM events
        WHERE kind = 'exercised' AND package_name = getvariable('package')
    )
    GROUP BY day, party
)
WHERE day >= getvariable('from')::DATE AND day < getvariable('to')::DATE
GROUP BY day
ORDER BY day
