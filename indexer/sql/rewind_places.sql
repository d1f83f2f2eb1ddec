-- Drops the places of a stream from a position on: in public history all at its record time too,
-- because places do not tell updates of one time apart.
ALTER TABLE places DELETE
WHERE stream = {stream:String} AND if({through_offset:Int64} > 0, node_offset > {through_offset:Int64} OR {within_imports:Bool},
    (migration_id, record_time) >= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')))
SETTINGS mutations_sync = 2
