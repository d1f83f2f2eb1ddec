-- Bytes of traffic that transactions of some participants cost up to an instant, as far as verdicts say, and how many
-- transactions these are.
SELECT submitting_participant_uid AS participant, sum(traffic_cost) AS used, toInt64(count()) AS transactions
FROM verdicts
WHERE stream IN {streams:Array(String)} AND submitting_participant_uid IN {participants:Array(String)} AND traffic_cost >= 0
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND (migration_id, record_time) <= ({migration:Int64}, fromUnixTimestamp64Micro({mark:Int64}, 'UTC'))
GROUP BY participant
