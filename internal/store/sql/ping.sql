-- Asks all shards, none of which has a row of the stream ''.
SELECT toUInt64(count()) AS n FROM updates WHERE stream = ''
