-- Import updates per migration, up to the watermark.
SELECT migration_id, count() AS imports, max(update_id) AS last_id
FROM imports
WHERE stream = {stream:String}
  AND (migration_id < {through_migration:Int64}
       OR (migration_id = {through_migration:Int64} AND ({all_imports:Bool} OR update_id <= {through_id:String})))
GROUP BY migration_id
ORDER BY migration_id
