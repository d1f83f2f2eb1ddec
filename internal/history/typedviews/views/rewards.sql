-- Coupons and records for rewards that were created, by round, class and party
-- table splice-amulet:Splice.Amulet:AppRewardCoupon
-- table splice-amulet:Splice.Amulet:ValidatorRewardCoupon
-- table splice-amulet:Splice.Amulet:SvRewardCoupon
-- table splice-amulet:Splice.ValidatorLicense:ValidatorLivenessActivityRecord
-- key round class party beneficiary
-- column stream Stream that the row belongs to; scan is the public history
-- column round Round of the activity
-- column class app_featured, app_unfeatured, validator, sv or liveness
-- column party Provider of the app, user of the validator, super-validator, or validator
-- column beneficiary Party that may mint, if the coupon names another one; else the party
-- column coupons How many there are
-- column amount Sum of their amounts in coins; of sv and liveness of their weights
SELECT _stream AS stream, round__number AS round, class, party, beneficiary, count() AS coupons, sum(units) AS amount
FROM
(
    SELECT _stream, _record_time, round__number, if(featured, 'app_featured', 'app_unfeatured') AS class, toString(provider) AS party,
           ifNull(toString(beneficiary), party) AS beneficiary, amount AS units
    FROM t_splice_amulet__splice_amulet_apprewardcoupon
    UNION ALL
    SELECT _stream, _record_time, round__number, 'validator', toString(user), toString(user), amount FROM t_splice_amulet__splice_amulet_validatorrewardcoupon
    UNION ALL
    SELECT _stream, _record_time, round__number, 'sv', toString(sv), toString(beneficiary), toDecimal128(weight, 10) FROM t_splice_amulet__splice_amulet_svrewardcoupon
    UNION ALL
    SELECT _stream, _record_time, round__number, 'liveness', toString(validator), toString(validator), ifNull(weight, toDecimal128(1, 10))
    FROM t_splice_amulet__splice_validatorlicense_validatorlivenessactivityrecord
)
WHERE _record_time > '1900-01-01 00:00:00'
GROUP BY _stream, round__number, class, party, beneficiary
