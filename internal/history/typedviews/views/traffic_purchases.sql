-- Purchases of traffic
-- table splice-amulet:Splice.AmuletRules:AmuletRules/AmuletRules_BuyMemberTraffic
-- key migration_id record_time update_id node
-- column stream Stream that the row belongs to; scan is the public history
-- column migration_id Migration of the row, from 0
-- column record_time Record time of the purchase
-- column update_id Update that has it
-- column node Number of the event in its update
-- column buyer Party that paid
-- column member_id Participant or other member that got the traffic
-- column bytes Traffic in bytes
-- column amount Coins that were paid
-- column usd The same in dollars, at the price of the round
-- column round Round that the result names
SELECT _stream AS stream, _migration_id AS migration_id, _record_time AS record_time, _update_id AS update_id, _node AS node, arg__provider AS buyer, arg__memberId AS member_id,
       arg__trafficAmount AS bytes, res__amuletPaid AS amount, toDecimal128(res__amuletPaid * res__summary__amuletPrice, 10) AS usd, res__round__number AS round
FROM c_splice_amulet__splice_amuletrules_amuletrules__amuletrules_buymembertraffic
