-- How much happens in each hour of a range of one migration. A verdict counts in one stream: that of public history, or
-- else the one of late verdicts.
WITH
    seconds AS (
        SELECT intDiv(at - 1, 3600000000) AS hours, intDiv(at, 1000000) AS second,
               count(what = 'update' OR NULL) AS u, count(transaction OR NULL) AS t, sum(n) AS e,
               count(what = 'verdict' OR NULL) AS v, countIf(result = 'VERDICT_RESULT_ACCEPTED') AS a, countIf(result = 'VERDICT_RESULT_REJECTED') AS r,
               countIf(hidden) AS p, countIf(cost >= 0) AS w, sumIf(cost, cost >= 0) AS b
        FROM
        (
            SELECT toUnixTimestamp64Micro(record_time) AS at, 'update' AS what, kind = 'transaction' AS transaction, 0 AS n, '' AS result, false AS hidden, toInt64(-1) AS cost
            FROM {readers:Identifier}.updates
            WHERE stream = {stream:String} AND migration_id = {migration:Int64}
              AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
            UNION ALL
            SELECT toUnixTimestamp64Micro(record_time) AS at, 'events', false, count(), '', false, toInt64(-1)
            FROM {readers:Identifier}.events
            WHERE stream = {stream:String} AND migration_id = {migration:Int64}
              AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
            GROUP BY at
            UNION ALL
            SELECT toUnixTimestamp64Micro(record_time) AS at, 'verdict', false, 0, result,
                   result = 'VERDICT_RESULT_ACCEPTED' AND update_id GLOBAL NOT IN
                   (
                       SELECT update_id FROM {readers:Identifier}.updates
                       WHERE stream = {public:String} AND migration_id = {migration:Int64}
                         AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
                   ),
                   traffic_cost
            FROM {readers:Identifier}.verdicts
            WHERE stream = {stream:String} AND migration_id = {migration:Int64}
              AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
              AND ({stream:String} = {public:String} OR update_id GLOBAL NOT IN
              (
                  SELECT update_id FROM {readers:Identifier}.verdicts
                  WHERE stream = {public:String} AND migration_id = {migration:Int64}
                    AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC') AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
              ))
        )
        GROUP BY hours, second),
    minutes AS (
        SELECT hours, sum(s.u) AS u, sum(s.t) AS t, sum(s.e) AS e, sum(s.v) AS v, sum(s.a) AS a, sum(s.r) AS r, sum(s.p) AS p, sum(s.w) AS w, sum(s.b) AS b,
               max(s.u) AS most_u, max(s.v) AS most_v
        FROM seconds AS s
        GROUP BY hours, intDiv(second, 60))
SELECT {stream:String} AS stream, {migration:Int64} AS migration_id, fromUnixTimestamp64Micro(hours * 3600000000, 'UTC') AS hour,
       toInt64(sum(u)) AS updates, toInt64(sum(t)) AS transactions, toInt64(sum(e)) AS events,
       toInt64(sum(a)) AS accepted, toInt64(sum(r)) AS rejected, toInt64(sum(v)) - accepted - rejected AS undecided, toInt64(sum(p)) AS private,
       toInt64(sum(w)) AS with_traffic, toInt64(sum(b)) AS traffic,
       toInt64(max(u)) AS updates_in_minute, toInt64(max(most_u)) AS updates_in_second,
       toInt64(max(v)) AS verdicts_in_minute, toInt64(max(most_v)) AS verdicts_in_second
FROM minutes
GROUP BY hours
ORDER BY hour
