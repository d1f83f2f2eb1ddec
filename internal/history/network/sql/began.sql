-- The newest migration, up to one, that has history at an instant.
SELECT migration_id
FROM updates
WHERE stream = {stream:String} AND migration_id <= {migration:Int64} AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
ORDER BY stream DESC, migration_id DESC
LIMIT 1
