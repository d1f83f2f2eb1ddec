-- Drops the imports of a migration in a range of update ids.
ALTER TABLE imports DELETE
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND update_id > {after_id:String} AND update_id <= {through_id:String}
SETTINGS mutations_sync = 2
