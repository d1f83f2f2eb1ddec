-- Drops the imports of a stream above a position.
ALTER TABLE imports DELETE
WHERE stream = {stream:String} AND (node_offset > {through_offset:Int64} AND {through_offset:Int64} > 0
    OR migration_id > {through_migration:Int64}
    OR (migration_id = {through_migration:Int64} AND {within_imports:Bool} AND update_id > {through_id:String}))
SETTINGS mutations_sync = 2
