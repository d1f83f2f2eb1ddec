-- Where updates of one migration stand that ended a contract of a party: archived it, or
-- sent it to another synchronizer. Ascending.
SELECT record_time, update_id
FROM updates
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND (record_time, synchronizer_id) GLOBAL IN (
    SELECT archived_at, synchronizer_id FROM
    (
        SELECT archived_at, synchronizer_id
        FROM contracts_live
        WHERE stream = {stream:String} AND migration_id = {migration:Int64}
          AND archived_at >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
          AND archived_at <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
          AND (has(signatories, {party:String}) OR has(observers, {party:String}))
        UNION ALL
        SELECT archived_at, synchronizer_id
        FROM contracts_archived
        WHERE stream = {stream:String} AND migration_id = {migration:Int64}
          AND archived_at >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
          AND archived_at <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
          AND (has(signatories, {party:String}) OR has(observers, {party:String}))
    )
    GROUP BY archived_at, synchronizer_id
    ORDER BY archived_at
    LIMIT {most:UInt32})
ORDER BY stream, migration_id, record_time, update_id
LIMIT {limit:UInt32}
