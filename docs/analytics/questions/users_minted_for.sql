-- Whose rewards did a validator mint?
-- group: Validator operator
-- number: 39
-- party String: the validator's party
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=user-2::12209dfc33e5f87820b12b0f5a17096ae8139a80fd1830eeb4ceaf59a93a851af178

SELECT user, count() AS coupons, sum(activity) AS amount
FROM (
    SELECT argument.user::String AS user, toDecimal128(argument.amount::String, 10) AS activity
    FROM labelled_events
    WHERE stream = 'scan' AND kind = 'created' AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Amulet:ValidatorRewardCoupon')
        AND record_time < {to:Date} AND contract_id IN (
            SELECT JSONExtractString(arrayJoin(JSONExtractArrayRaw(argument_text, 'transfer', 'inputs')), 'value')
            FROM labelled_events
            WHERE stream = 'scan' AND choice = 'AmuletRules_Transfer' AND position(argument_text, 'InputValidatorRewardCoupon') > 0
                AND JSONExtractString(argument_text, 'transfer', 'sender') = {party:String}
                AND record_time >= {from:Date} AND record_time < {to:Date}
        )
)
GROUP BY user
ORDER BY amount DESC, user
