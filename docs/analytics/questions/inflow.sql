-- By which ways of at most three transfers did coins come from some parties to another one?
-- group: Compliance
-- number: 42
-- party String: the party that received
-- sources String: parties that sent, separated by commas
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- count UInt32 = 10: how many
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 sources=user-1::12207e6c6736bb02ca6f6b53df12f7ac7279b6163d6c66cea9ad75dae0c103325e84

-- amount is the most that can have come by a way: the least sum of its transfers; times counts those of the last one.
WITH transfers AS (
    SELECT toString(counterparty) AS sender, toString(party) AS receiver, sum(m.amount) AS amount, count() AS times
    FROM movements AS m
    WHERE stream = 'scan' AND cause = 'transfer' AND m.amount > 0 AND counterparty != party AND record_time >= {from:Date} AND record_time < {to:Date}
    GROUP BY sender, receiver
), first AS (
    SELECT * FROM transfers WHERE sender IN splitByChar(',', {sources:String})
), last AS (
    SELECT * FROM transfers WHERE receiver = {party:String}
)
SELECT path, amount, times
FROM (
    SELECT [sender, receiver] AS path, amount, times
    FROM first
    WHERE receiver = {party:String}
    UNION ALL
    SELECT [a.sender, b.sender, b.receiver], least(a.amount, b.amount), b.times
    FROM first AS a INNER JOIN last AS b ON a.receiver = b.sender
    UNION ALL
    SELECT [a.sender, b.sender, b.receiver, c.receiver], least(a.amount, b.amount, c.amount), c.times
    FROM first AS a INNER JOIN transfers AS b ON a.receiver = b.sender INNER JOIN last AS c ON b.receiver = c.sender
)
WHERE length(path) = length(arrayDistinct(path))
ORDER BY amount DESC, path
LIMIT {count:UInt32}
