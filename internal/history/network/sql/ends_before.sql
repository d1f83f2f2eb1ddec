-- When contracts of some templates ended in a migration before an instant, descending, each instant once.
SELECT DISTINCT archived_at
FROM
(
    SELECT archived_at
    FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN {templates:Array(String)}
      AND archived_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC') AND archived_at <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
    UNION ALL
    SELECT archived_at
    FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN {templates:Array(String)}
      AND archived_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC') AND archived_at <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
)
ORDER BY archived_at DESC
LIMIT {limit:UInt32}
