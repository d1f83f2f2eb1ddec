-- The columns of the tables of a database with their comments. Table leases is left out: the server keeps its
-- columns in Keeper, comments included, and other servers could not open the table.
SELECT table, name, comment
FROM system.columns
WHERE database = currentDatabase() AND table != 'leases'
