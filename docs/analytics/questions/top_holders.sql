-- Who holds most, and which share of all?
-- group: Analyst
-- number: 6
-- at DateTime = 2100-01-01 00:00:00: the instant
-- count UInt32 = 10: how many

SELECT rank() OVER (ORDER BY balance DESC) AS rank, party, balance,
    divideDecimal(balance * 100, sum(balance) OVER (), 4) AS percent
FROM (
    SELECT party, sum(amount) AS balance
    FROM movements
    WHERE stream = 'scan' AND record_time <= {at:DateTime}
    GROUP BY party
)
ORDER BY rank, party
LIMIT {count:UInt32}
