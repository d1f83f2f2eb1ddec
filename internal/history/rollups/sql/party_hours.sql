-- Which parties are active in each hour of a range of one migration. On a cluster each shard has its own parties, of
-- what all have.
SELECT {stream:String} AS stream, party, {migration:Int64} AS migration_id, fromUnixTimestamp64Micro(hours * 3600000000, 'UTC') AS hour,
       toInt64(sum(submitted)) AS transactions, toInt64(sum(bytes)) AS traffic, toBool(max(seen)) AS active
FROM
(
    SELECT intDiv(toUnixTimestamp64Micro(record_time) - 1, 3600000000) AS hours, arrayJoin(submitting_parties) AS party,
           countIf(result = 'VERDICT_RESULT_ACCEPTED') AS submitted, sumIf(traffic_cost, traffic_cost >= 0) AS bytes, 0 AS seen
    FROM {readers:Identifier}.verdicts
    WHERE stream = {stream:String} AND migration_id = {migration:Int64}
      AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
      AND ({stream:String} = {public:String} OR update_id GLOBAL NOT IN
      (
          SELECT update_id FROM {readers:Identifier}.verdicts
          WHERE stream = {public:String} AND migration_id = {migration:Int64}
            AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
      ))
    GROUP BY hours, party
    UNION ALL
    SELECT hours, arrayJoin(arrayConcat(signing, observing, acting)) AS party, 0, 0, 1
    FROM
    (
        SELECT intDiv(toUnixTimestamp64Micro(record_time) - 1, 3600000000) AS hours,
               groupUniqArrayArray(signatories) AS signing, groupUniqArrayArray(observers) AS observing, groupUniqArrayArray(acting_parties) AS acting
        FROM {readers:Identifier}.events
        WHERE stream = {stream:String} AND migration_id = {migration:Int64}
          AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
        GROUP BY hours
    )
)
WHERE xxHash64(party) % {shards:UInt64} = {shard:UInt64}
GROUP BY hours, party
ORDER BY hours, party
