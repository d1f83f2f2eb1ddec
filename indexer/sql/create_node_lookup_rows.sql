-- A copy of nodes' streams by offset: one row holds an update, whole. key is the XXH3 of stream,
-- a zero byte and the offset in decimal digits; body is the update in one piece, packed as those
-- of lookup_rows, and like that table this one is made only where copies are asked for.
CREATE TABLE IF NOT EXISTS node_lookup_rows
(
    key  UInt64,
    body String
)
ENGINE = EmbeddedRocksDB
PRIMARY KEY key
