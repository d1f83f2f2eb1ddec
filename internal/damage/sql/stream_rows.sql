-- How many rows of a stream each table has. The key of each begins with the stream, so that
-- hardly any row is read.
SELECT 'updates' AS table, count() AS n FROM updates WHERE stream = {stream:String}
UNION ALL
SELECT 'events' AS table, count() AS n FROM events WHERE stream = {stream:String}
UNION ALL
SELECT 'imports' AS table, count() AS n FROM imports WHERE stream = {stream:String}
UNION ALL
SELECT 'verdicts' AS table, count() AS n FROM verdicts WHERE stream = {stream:String}
UNION ALL
SELECT 'places' AS table, count() AS n FROM places WHERE stream = {stream:String}
