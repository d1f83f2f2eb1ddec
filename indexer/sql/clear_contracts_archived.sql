-- Drops all rows of a stream.
ALTER TABLE contracts_archived DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
