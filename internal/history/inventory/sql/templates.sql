-- How many contracts there are of each template, or of one: live at an instant, and ended by then in any migration. Those
-- that end in the update that creates them are not among them.
SELECT template, toInt64(countIf(migration_id = {migration:Int64} AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC'))) AS live,
       toInt64(countIf(archived_at <= fromUnixTimestamp64Micro({at:Int64}, 'UTC'))) AS ended
FROM
(
    SELECT template, migration_id, created_time, archived_at FROM contracts_live
    WHERE stream = {stream:String} AND migration_id <= {migration:Int64} AND (empty({templates:Array(String)}) OR template IN {templates:Array(String)})
    UNION ALL
    SELECT template, migration_id, created_time, archived_at FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id <= {migration:Int64} AND (empty({templates:Array(String)}) OR template IN {templates:Array(String)})
)
WHERE created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
GROUP BY template
HAVING live > 0 OR ended > 0
ORDER BY template
LIMIT 20000
