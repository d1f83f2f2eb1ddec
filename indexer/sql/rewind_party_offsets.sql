-- Drops where the parties of a node's own stream find updates above a position.
ALTER TABLE party_offsets DELETE
WHERE stream = {stream:String} AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
SETTINGS mutations_sync = 2
