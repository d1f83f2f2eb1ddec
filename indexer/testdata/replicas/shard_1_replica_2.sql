-- databases
CREATE DATABASE IF NOT EXISTS `ledger_shard` COMMENT 'ledgerlake: shard 1 of 2, replica 2'

-- 0160_batch_rows
-- comes by replication

-- 0171_place_rows
-- comes by replication

-- 0174_updates_filters
-- comes by replication

-- 0175_verdicts_filter
-- comes by replication

-- 0176_events_filter
-- comes by replication

-- 0177_batches_without_party_rows
-- comes by replication

-- 0180_places_are_filled
-- comes by replication

-- 0260_derived_objects
-- comes by replication

