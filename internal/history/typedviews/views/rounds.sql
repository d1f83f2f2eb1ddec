-- Mining rounds of the coin: times, price, and what coupons of the round are worth
-- table splice-amulet:Splice.Round:OpenMiningRound
-- table splice-amulet:Splice.Round:IssuingMiningRound
-- table splice-amulet:Splice.Round:ClosedMiningRound
-- key round
-- column stream Stream that the row belongs to; scan is the public history
-- column round Number of the round
-- column price_usd Dollars for a coin
-- column opens_at When it opens for activity
-- column closes_at When it closes for activity, as planned
-- column traffic_price_usd Dollars for a megabyte of traffic, null if the round does not say it
-- column issuing_from When its rewards can be minted from
-- column issuing_until Until when, as planned
-- column per_validator_coupon Coins for a coin of validator rewards
-- column per_featured_app_coupon Coins for a coin of rewards of a featured app
-- column per_unfeatured_app_coupon Coins for a coin of rewards of another app
-- column per_sv_weight Coins for a unit of weight of a super-validator
-- column per_liveness_record Coins for a liveness record, null if the round does not say it
-- column closed_at Record time at which it was closed, null before
SELECT _stream AS stream, round__number AS round, any(price) AS price_usd, any(opens) AS opens_at, any(closes) AS closes_at, any(traffic) AS traffic_price_usd,
       any(mints) AS issuing_from, any(ends) AS issuing_until, any(validator) AS per_validator_coupon, any(featured) AS per_featured_app_coupon,
       any(unfeatured) AS per_unfeatured_app_coupon, any(sv) AS per_sv_weight, any(liveness) AS per_liveness_record, min(closed) AS closed_at
FROM
(
    SELECT _stream, round__number, toNullable(amuletPrice) AS price, toNullable(opensAt) AS opens, toNullable(targetClosesAt) AS closes, trafficPrice AS traffic,
           NULL AS mints, NULL AS ends, NULL AS validator, NULL AS featured, NULL AS unfeatured, NULL AS sv, NULL AS liveness, NULL AS closed
    FROM t_splice_amulet__splice_round_openmininground
    UNION ALL
    SELECT _stream, round__number, NULL, NULL, NULL, NULL, toNullable(opensAt), toNullable(targetClosesAt), toNullable(issuancePerValidatorRewardCoupon),
           toNullable(issuancePerFeaturedAppRewardCoupon), toNullable(issuancePerUnfeaturedAppRewardCoupon), toNullable(issuancePerSvRewardCoupon),
           optIssuancePerValidatorFaucetCoupon, NULL
    FROM t_splice_amulet__splice_round_issuingmininground
    UNION ALL
    SELECT _stream, round__number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           if(_record_time > '1900-01-01 00:00:00', toNullable(_record_time), NULL)
    FROM t_splice_amulet__splice_round_closedmininground
)
GROUP BY _stream, round__number
