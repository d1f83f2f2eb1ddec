-- Drops the rows of a stream above a position from updates or events.
ALTER TABLE {table:Identifier} DELETE
WHERE stream = {stream:String} AND ({through_offset:Int64} > 0 AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
    OR {through_offset:Int64} <= 0 AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
    AND ({within_imports:Bool} OR (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})))))
SETTINGS mutations_sync = 2
