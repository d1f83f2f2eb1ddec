-- With whom a party has exchanged most of an instrument up to an instant.
SELECT counterparty AS other, sumIf(amount, amount > 0) AS received, -sumIf(amount, amount < 0) AS paid,
       toInt64(uniqExact(update_id)) AS updates, max(record_time) AS last
FROM movements
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
  AND cause = 'transfer' AND counterparty NOT IN ('', {party:String})
GROUP BY counterparty
HAVING {after:String} = '' OR (received + paid, other) < (toDecimal128({after_volume:String}, 10), {after:String})
ORDER BY received + paid DESC, other DESC
LIMIT {limit:UInt32}
