-- The columns of the tables of a store that have rows of their own, and their places in the sorting
-- keys. Copies for lookups and typed tables are for single
-- servers.
SELECT c.table AS table_name, c.name AS column_name, c.type AS column_type,
       toUInt64(indexOf(splitByString(', ', t.sorting_key), c.name)) AS sorted_as,
       toBool(t.engine LIKE '%ReplacingMergeTree') AS replaces
FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE c.database = currentDatabase() AND c.default_kind NOT IN ('ALIAS', 'MATERIALIZED', 'EPHEMERAL')
  AND t.engine LIKE '%MergeTree' AND NOT startsWith(t.name, 'goose') AND NOT endsWith(t.name, '_next')
  AND t.name NOT IN ('reshard', 'lookup_dictionaries', 'projections', 'projection_columns') AND NOT match(t.name, '^[ct]_')
ORDER BY c.table, c.position
