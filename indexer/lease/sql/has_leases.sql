-- 1 if the database has the table of leases, which the first process makes that writes a stream.
SELECT toUInt64(count()) AS n FROM system.tables WHERE database = currentDatabase() AND tables.name = 'leases'
