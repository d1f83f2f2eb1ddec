-- Drops the journal lines of a stream that end above a position, but for the commit that took the
-- stream back there. What was announced under its number goes.
ALTER TABLE batches DELETE
WHERE stream = {stream:String} AND state != 'claim' AND (sequence != {mark:Int64} OR state != 'commit')
  AND (through_offset, through_migration, through_time, through_id) > ({offset:Int64}, {migration:Int64}, {time:Int64}, {id:String})
SETTINGS mutations_sync = 2
