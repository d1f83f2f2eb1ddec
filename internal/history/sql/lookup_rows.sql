-- The copies of items by their keys, in no order. One thread, as for places.
SELECT key, body
FROM lookup_rows
WHERE key IN {keys:Array(UInt64)}
SETTINGS max_threads = 1
