-- Drops the rows of a stream from a typed table.
ALTER TABLE {table:Identifier} DELETE WHERE _stream = {stream:String} SETTINGS mutations_sync = 2
