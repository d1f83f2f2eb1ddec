-- Drops the rows of a node's own stream in a range of offsets from updates or events.
ALTER TABLE {table:Identifier} DELETE
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
SETTINGS mutations_sync = 2
