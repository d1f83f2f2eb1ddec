-- When contracts of some templates ended in a migration, ascending, each instant once; 2299-12-31 last if
-- some have not and that is asked for.
SELECT DISTINCT archived_at
FROM
(
    SELECT archived_at
    FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN {templates:Array(String)}
      AND archived_at >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND archived_at <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
    UNION ALL
    SELECT archived_at
    FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND template IN {templates:Array(String)}
      AND archived_at >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
      AND archived_at <= fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')
)
ORDER BY archived_at
