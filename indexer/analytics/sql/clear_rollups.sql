-- Drops the rows of a stream from a table of hours.
ALTER TABLE {table:Identifier} DELETE WHERE stream = {stream:String} SETTINGS mutations_sync = 2
