-- Whose rewards did a validator mint?
-- group: Validator operator
-- number: 39
-- party String: the validator's party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-2::12209dfc33e5f87820b12b0f5a17096ae8139a80fd1830eeb4ceaf59a93a851af178

-- Coupons that went into transfers of the validator. Those of rounds that issued nothing for usage are worth nothing.
WITH mints AS (
    SELECT record_time FROM events
    WHERE stream = 'scan' AND choice = 'AmuletRules_Transfer' AND has(acting_parties, {party:String})
        AND position(body_scalars, 'InputValidatorRewardCoupon') > 0
        AND record_time >= {from:Date} AND record_time < {to:Date}
)
SELECT user, count() AS coupons, sum(activity) AS amount
FROM (
    SELECT JSONExtractString(argument, 'record', 'fields', 2, 'value', 'party') AS user,
        toDecimal128(JSONExtractString(argument, 'record', 'fields', 3, 'value', 'numeric'), 10) AS activity
    FROM (
        SELECT template, contract_id, archived_at, argument FROM contracts_live WHERE stream = 'scan'
        UNION ALL
        SELECT template, contract_id, archived_at, argument FROM contracts_archived WHERE stream = 'scan'
    )
    WHERE template = 'splice-amulet:Splice.Amulet:ValidatorRewardCoupon' AND archived_at IN (SELECT record_time FROM mints)
        AND contract_id IN (
            SELECT JSONExtractString(arrayJoin(JSONExtractArrayRaw(argument_text, 'transfer', 'inputs')), 'value')
            FROM labelled_events
            WHERE stream = 'scan' AND choice = 'AmuletRules_Transfer' AND record_time IN (SELECT record_time FROM mints)
                AND has(acting_parties, {party:String}) AND JSONExtractString(argument_text, 'transfer', 'sender') = {party:String}
        )
    LIMIT 1 BY contract_id
)
GROUP BY user
ORDER BY amount DESC, user
