-- Which transfers are at least of an amount?
-- group: Compliance
-- number: 43
-- amount Decimal(38, 10) = 100: least amount, in coins
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: amount=50 from=2026-07-01 to=2026-07-02

SELECT record_time, update_id, counterparty AS sender, party AS receiver, amount, round
FROM movements
WHERE stream = 'scan' AND cause = 'transfer' AND amount >= {amount:Decimal(38, 10)} AND party != counterparty
    AND record_time >= {from:Date} AND record_time < {to:Date}
ORDER BY amount DESC, record_time, update_id, entry

-- DuckDB
SELECT record_time, update_id, counterparty AS sender, party AS receiver, amount, round
FROM movements
WHERE cause = 'transfer' AND amount >= getvariable('amount')::DECIMAL(38, 10) AND party <> counterparty
    AND record_time >= getvariable('from')::DATE AND record_time < getvariable('to')::DATE
ORDER BY amount DESC, record_time, update_id, entry
