-- Import updates per migration while the watermark stands within the imports of one.
SELECT migration_id, count() AS imports, max(update_id) AS last_id
FROM imports
WHERE stream = {stream:String}
  AND (migration_id < {through_migration:Int64}
       OR (migration_id = {through_migration:Int64} AND update_id <= {through_id:String}))
GROUP BY migration_id
ORDER BY migration_id
