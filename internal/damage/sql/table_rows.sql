-- How many rows the tables of history have in all.
SELECT 'updates' AS table, count() AS n FROM updates
UNION ALL
SELECT 'events' AS table, count() AS n FROM events
UNION ALL
SELECT 'imports' AS table, count() AS n FROM imports
UNION ALL
SELECT 'verdicts' AS table, count() AS n FROM verdicts
UNION ALL
SELECT 'places' AS table, count() AS n FROM places
