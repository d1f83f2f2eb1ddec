-- Drops the verdicts of a stream above a position.
ALTER TABLE verdicts DELETE
WHERE stream = {stream:String} AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
    AND ({within_imports:Bool} OR (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))))
SETTINGS mutations_sync = 2
