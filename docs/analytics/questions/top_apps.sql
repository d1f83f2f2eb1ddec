-- Who minted most rewards of apps?
-- group: App operator
-- number: 33
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- count UInt32 = 10: how many

SELECT rank() OVER (ORDER BY minted DESC) AS rank, party, minted, mints
FROM (
    SELECT party, sum(amount) AS minted, count() AS mints
    FROM movements
    WHERE stream = 'scan' AND cause = 'mint' AND startsWith(class, 'app') AND record_time >= {from:Date} AND record_time < {to:Date}
    GROUP BY party
)
ORDER BY rank, party
LIMIT {count:UInt32}
