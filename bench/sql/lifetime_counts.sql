-- Ended and live lifetimes of the newest migration, and the newest instant of history.
SELECT (SELECT count() FROM contracts_archived WHERE migration_id = m) AS archived,
       (SELECT count() FROM contracts_live WHERE migration_id = m AND archived_at > toDateTime64('2200-01-01 00:00:00', 6, 'UTC')) AS live,
       (SELECT max(migration_id) FROM updates) AS m,
       (SELECT toUnixTimestamp64Micro(max(record_time)) FROM updates WHERE migration_id = m) AS newest
