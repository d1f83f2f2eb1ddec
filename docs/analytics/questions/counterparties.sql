-- With whom does a party deal, by volume?
-- group: Compliance
-- number: 41
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73

SELECT counterparty, sumIf(amount, amount > 0) AS received, -sumIf(amount, amount < 0) AS sent, count() AS transfers,
    min(record_time) AS first, max(record_time) AS last
FROM movements
WHERE stream = 'scan' AND party = {party:String} AND cause = 'transfer' AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY counterparty
ORDER BY received + sent DESC, counterparty
