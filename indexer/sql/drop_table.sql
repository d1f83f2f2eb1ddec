-- Drops a table with all that it has.
DROP TABLE IF EXISTS {table:Identifier} SYNC
