-- What did two parties send each other?
-- group: Auditor
-- number: 20
-- party String: the party
-- other String: the other party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73 other=user-2::12209dfc33e5f87820b12b0f5a17096ae8139a80fd1830eeb4ceaf59a93a851af178

SELECT record_time, update_id, if(amount > 0, 'in', 'out') AS direction, abs(amount) AS amount, reason
FROM movements
WHERE stream = 'scan' AND party = {party:String} AND counterparty = {other:String} AND cause = 'transfer'
    AND record_time >= {from:Date} AND record_time < {to:Date}
ORDER BY migration_id, record_time, update_id, entry
