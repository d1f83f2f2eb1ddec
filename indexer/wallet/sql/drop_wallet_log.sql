-- Drops all rows of a node's stream, which are a partition.
ALTER TABLE wallet_log DROP PARTITION {stream:String}
