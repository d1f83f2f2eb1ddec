-- What does a party hold at an instant, locked and not?
-- group: Auditor
-- number: 17
-- party String: the party
-- at DateTime = 2100-01-01 00:00:00: the instant
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 at=2026-07-02 00:00:00

SELECT instrument, sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked, sum(amount) AS total
FROM movements
WHERE stream = 'scan' AND party = {party:String} AND record_time <= {at:DateTime}
GROUP BY instrument
ORDER BY instrument

-- DuckDB
SELECT instrument, coalesce(sum(amount) FILTER (pocket = 'unlocked'), 0) AS unlocked,
    coalesce(sum(amount) FILTER (pocket = 'locked'), 0) AS locked, sum(amount) AS total
FROM movements
WHERE party = getvariable('party') AND record_time <= getvariable('at')::TIMESTAMP
GROUP BY instrument
ORDER BY instrument
