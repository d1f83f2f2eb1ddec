-- Drops all rows of a stream.
ALTER TABLE ended_contracts DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
