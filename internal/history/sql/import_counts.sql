-- Import updates per migration, of all rows. It must stay in the form of projection
-- "counts", which answers it.
SELECT migration_id, count() AS imports, max(update_id) AS last_id
FROM imports
WHERE stream = {stream:String} AND migration_id <= {through_migration:Int64}
GROUP BY stream, migration_id
ORDER BY migration_id
