-- The dictionaries of a stream's copies, ascending.
SELECT stream, id, content
FROM lookup_dictionaries
WHERE stream = {stream:String}
ORDER BY id
