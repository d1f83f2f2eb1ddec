-- The last collection of garbage of a stream.
SELECT stream, ended_at, expired, objects, bytes, uploads
FROM collections
WHERE stream = {stream:String}
ORDER BY ended_at DESC
LIMIT 1
