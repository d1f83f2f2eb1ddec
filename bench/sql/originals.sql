-- The lifetimes of the newest migration in a table: what is repeated must not repeat itself.
CREATE TABLE originals ENGINE = MergeTree ORDER BY created_at AS
SELECT * FROM %s
WHERE migration_id = (SELECT max(migration_id) FROM updates)
  AND (archived_at > toDateTime64('2200-01-01 00:00:00', 6, 'UTC')) = %t
