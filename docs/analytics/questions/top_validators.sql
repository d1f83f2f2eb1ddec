-- Which validators minted most rewards?
-- group: Validator operator
-- number: 38
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- count UInt32 = 10: how many

SELECT rank() OVER (ORDER BY minted DESC) AS rank, party, minted
FROM (
    SELECT party, sum(amount) AS minted
    FROM movements
    WHERE stream = 'scan' AND cause = 'mint' AND startsWith(class, 'validator') AND record_time >= {from:Date} AND record_time < {to:Date}
    GROUP BY party
)
ORDER BY rank, party
LIMIT {count:UInt32}
