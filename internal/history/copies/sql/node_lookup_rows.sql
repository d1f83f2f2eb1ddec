-- The copies of a node's updates by their keys, in no order. See lookup_rows.sql.
SELECT key, body
FROM node_lookup_rows
WHERE key IN {keys:Array(UInt64)}
SETTINGS max_threads = 1, enable_analyzer = 0
