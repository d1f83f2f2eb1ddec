-- What did a party receive each day and round, and what was it worth in dollars?
-- group: Auditor
-- number: 18
-- party String: the party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-3::12204efc1bc7252a362eebbd6e14f69ce1631687805711881c73afc48df1f5ffbf73

-- At the ledger's price of the round; dollars are cut after ten digits.
WITH prices AS (
    SELECT JSONExtractInt(argument, 'record', 'fields', 2, 'value', 'record', 'fields', 1, 'value', 'int64') AS round,
        any(toDecimal128(JSONExtractString(argument, 'record', 'fields', 3, 'value', 'numeric'), 10)) AS usd
    FROM (
        SELECT argument FROM contracts_live WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:OpenMiningRound'
        UNION ALL
        SELECT argument FROM contracts_archived WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:OpenMiningRound'
    )
    GROUP BY round
)
SELECT toDate(record_time) AS day, round, cause, class, sum(amount) AS received, any(p.usd) AS price,
    multiplyDecimal(received, price, 10) AS usd
FROM movements AS m
LEFT JOIN prices AS p USING (round)
WHERE stream = 'scan' AND party = {party:String} AND amount > 0 AND cause IN ('transfer', 'mint')
    AND record_time >= {from:Date} AND record_time < {to:Date}
GROUP BY day, round, cause, class
ORDER BY day, round, cause, class
