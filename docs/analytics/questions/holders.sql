-- How many parties hold coins at an instant, and how many ever did?
-- group: Analyst
-- number: 5
-- at DateTime = 2100-01-01 00:00:00: the instant
-- example: at=2026-07-02 00:00:00

SELECT countIf(balance > 0) AS now, countIf(credited > 0) AS ever, countIf(balance >= 100) AS with_100
FROM (
    SELECT party, sum(amount) AS balance, sumIf(amount, amount > 0) AS credited
    FROM movements
    WHERE stream = 'scan' AND record_time <= {at:DateTime}
    GROUP BY party
)

-- DuckDB
SELECT count(*) FILTER (balance > 0) AS now, count(*) FILTER (credited > 0) AS ever, count(*) FILTER (balance >= 100) AS with_100
FROM (
    SELECT party, sum(amount) AS balance, sum(amount) FILTER (amount > 0) AS credited
    FROM movements
    WHERE record_time <= getvariable('at')::TIMESTAMP
    GROUP BY party
)
