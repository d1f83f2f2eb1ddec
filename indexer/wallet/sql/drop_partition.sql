-- Drops all rows of a node's stream, which are a partition, from a table of wallets.
ALTER TABLE {table:Identifier} DROP PARTITION {stream:String}
