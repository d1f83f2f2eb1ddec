-- 1 if the database has notes of a copy.
SELECT toUInt64(count()) AS n FROM system.tables WHERE database = currentDatabase() AND name = 'reshard'
