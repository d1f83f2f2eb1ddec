-- Whether the database reads the journal of a cluster.
SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'batches' AND engine = 'Distributed'
