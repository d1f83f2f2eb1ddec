-- Which rewards were lost because nobody claimed them in time, and which can still be claimed?
-- group: Validator operator
-- number: 35
-- from Date = 1970-01-01: first day on which coupons expired
-- to Date = 2100-01-01: day after the last one

-- Lost are coupons that were archived as expired, and active ones whose round pays no more. Before a round is issued
-- its rates are not known, and its coupons are worth 0.
SELECT class, countIf(over) AS lost_coupons, toDecimal128(sumIf(worth, over), 10) AS lost_worth, countIf(NOT over) AS open_coupons, toDecimal128(sumIf(worth, NOT over), 10) AS open_worth
FROM (
    SELECT splitByChar(':', template)[3] AS class, expired OR r.over AS over,
        toDecimal128(JSONExtractString(argument, 'record', 'fields', if(class = 'AppRewardCoupon', 4, 3), 'value', 'numeric'), 10)
            * multiIf(class != 'AppRewardCoupon', r.validator, JSONExtractBool(argument, 'record', 'fields', 3, 'value', 'bool'), r.featured, r.unfeatured) AS worth
    FROM (
        SELECT template, argument, archived_at < '2299-01-01' AS expired,
            JSONExtractInt(argument, 'record', 'fields', if(endsWith(template, ':AppRewardCoupon'), 5, 4), 'value', 'record', 'fields', 1, 'value', 'int64') AS round
        FROM (
            SELECT template, argument, archived_at FROM contracts_live
            WHERE stream = 'scan' AND template IN ('splice-amulet:Splice.Amulet:AppRewardCoupon', 'splice-amulet:Splice.Amulet:ValidatorRewardCoupon')
                AND archived_at > '2299-01-01' AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
            UNION ALL
            SELECT template, argument, archived_at FROM contracts_archived
            WHERE stream = 'scan' AND template IN ('splice-amulet:Splice.Amulet:AppRewardCoupon', 'splice-amulet:Splice.Amulet:ValidatorRewardCoupon')
                AND archived_at >= {from:Date} AND archived_at < {to:Date} AND contract_id IN (
                    SELECT contract_id FROM events
                    WHERE stream = 'scan' AND choice IN ('AppRewardCoupon_DsoExpire', 'ValidatorRewardCoupon_DsoExpire')
                        AND record_time >= {from:Date} AND record_time < {to:Date}
                )
        )
    ) AS c
    LEFT JOIN (
        SELECT JSONExtractInt(argument, 'record', 'fields', 2, 'value', 'record', 'fields', 1, 'value', 'int64') AS round,
            max(toDecimal128(JSONExtractString(argument, 'record', 'fields', 3, 'value', 'numeric'), 10)) AS validator,
            max(toDecimal128(JSONExtractString(argument, 'record', 'fields', 4, 'value', 'numeric'), 10)) AS featured,
            max(toDecimal128(JSONExtractString(argument, 'record', 'fields', 5, 'value', 'numeric'), 10)) AS unfeatured,
            max(archived_at) < '2299-01-01' AS over
        FROM (
            SELECT argument, archived_at FROM contracts_live
            WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:IssuingMiningRound'
                AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
            UNION ALL
            SELECT argument, archived_at FROM contracts_archived
            WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Round:IssuingMiningRound'
        )
        GROUP BY round
    ) AS r ON r.round = c.round
)
GROUP BY class
ORDER BY class
