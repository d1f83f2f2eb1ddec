-- The copies of items by their keys, in no order. One thread, and the old analyzer, as for places.
SELECT key, body
FROM lookup_rows
WHERE key IN {keys:Array(UInt64)}
SETTINGS max_threads = 1, enable_analyzer = 0
