-- A copy of public history by update id: one row holds all that was known of an update at
-- its commit (the update, its verdict, traffic and app activity). key is the XXH3 of stream,
-- a zero byte and update id; body is the item in one piece, in a zstd frame whose dictionary
-- is in lookup_dictionaries. No migration makes this table, because a server may be built
-- without its engine, and who does not ask for copies needs none.
CREATE TABLE IF NOT EXISTS lookup_rows
(
    key  UInt64,
    body String
)
ENGINE = EmbeddedRocksDB
PRIMARY KEY key
