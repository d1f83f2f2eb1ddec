-- What happened to the coins of a party, and what did it have after that?
-- group: Auditor
-- number: 16
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 to=2026-07-02

SELECT *
FROM (
    SELECT record_time, update_id, cause, class, counterparty, amount,
        sum(amount) OVER (ORDER BY migration_id, record_time, update_id, entry) AS balance, reason
    FROM movements
    WHERE stream = 'scan' AND party = {party:String} AND cause != 'lock' AND record_time < {to:Date}
    ORDER BY migration_id, record_time, update_id, entry
)
WHERE record_time >= {from:Date}

-- DuckDB
SELECT record_time, update_id, cause, class, counterparty, amount, balance, reason
FROM (
    SELECT *, sum(amount) OVER (ORDER BY migration_id, record_time, update_id, entry) AS balance
    FROM movements
    WHERE party = getvariable('party') AND cause <> 'lock' AND record_time < getvariable('to')::DATE
)
WHERE record_time >= getvariable('from')::DATE
ORDER BY migration_id, record_time, update_id, entry
