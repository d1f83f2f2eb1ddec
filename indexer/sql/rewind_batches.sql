-- Drops the journal lines of a stream that end above a position, but for the one that took the
-- stream back there.
ALTER TABLE batches DELETE
WHERE stream = {stream:String} AND state != 'claim' AND sequence != {mark:Int64}
  AND (through_offset, through_migration, through_time, through_id) > ({offset:Int64}, {migration:Int64}, {time:Int64}, {id:String})
SETTINGS mutations_sync = 2
