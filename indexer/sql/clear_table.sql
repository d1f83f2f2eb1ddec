-- Drops all rows of a stream from a table of lifetimes.
ALTER TABLE {table:Identifier} DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
