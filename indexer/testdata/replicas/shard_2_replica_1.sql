-- databases
CREATE DATABASE IF NOT EXISTS `ledger_shard` COMMENT 'ledgerlake: shard 2 of 2, replica 1'

