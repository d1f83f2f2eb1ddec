-- Drops all rows of a stream.
ALTER TABLE contracts_live DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
