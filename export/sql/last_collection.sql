-- When the last collection of garbage of a stream ended; year 1970 if there was none.
SELECT max(ended_at) AS ended_at
FROM collections
WHERE stream = {stream:String}
