-- Drops a scratch table. It does not wait for statements that still use it.
DROP TABLE IF EXISTS {table:Identifier}
