-- Drops what a stream has in mining rounds.
ALTER TABLE round_entries DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
