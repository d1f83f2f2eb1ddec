-- Which fees did a party pay each day?
-- group: Auditor
-- number: 19
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73

SELECT toDate(record_time) AS day, class, -sum(amount) AS paid
FROM movements
WHERE stream = 'scan' AND party = {party:String} AND cause = 'burn' AND class != 'expiry'
    AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day, class
ORDER BY day, class
