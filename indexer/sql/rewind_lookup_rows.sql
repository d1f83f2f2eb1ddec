-- Drops the copies of what public history has above a position, while it still has it.
ALTER TABLE lookup_rows DELETE
WHERE key IN
(
    SELECT xxh3(concat({stream:String}, '\0', update_id)) FROM updates
    WHERE stream = {stream:String} AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
    AND ({within_imports:Bool} OR (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))))
    UNION ALL
    SELECT xxh3(concat({stream:String}, '\0', update_id)) FROM verdicts
    WHERE stream = {stream:String} AND (migration_id > {through_migration:Int64} OR (migration_id = {through_migration:Int64}
    AND ({within_imports:Bool} OR (record_time, update_id) > (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String}))))
)
SETTINGS mutations_sync = 2
