-- Columns that are computed are not part of SELECT *.
SELECT name AS column, type, if(default_kind = 'ALIAS', 'computed', '') AS kind, comment AS meaning
FROM system.columns
WHERE database = currentDatabase() AND table = {table:String}
ORDER BY position
