-- Drops the movements of a stream.
ALTER TABLE movements DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
