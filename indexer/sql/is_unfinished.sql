-- Whether a store is being copied into a database: see package reshard, which renames the table at the end.
SELECT count() FROM system.tables WHERE database = ? AND name = 'reshard'
