-- Drops all rows of a node's stream, which are a partition.
ALTER TABLE wallet_contracts DROP PARTITION {stream:String}
