-- Drops the copies of what a node's stream has above a position, while it still has it.
ALTER TABLE node_lookup_rows DELETE
WHERE key IN
(
    SELECT xxh3(concat({stream:String}, '\0', toString(node_offset))) FROM updates
    WHERE stream = {stream:String} AND (node_offset > {through_offset:Int64} OR {within_imports:Bool})
)
SETTINGS mutations_sync = 2
