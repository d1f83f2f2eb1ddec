-- What a server of a cluster says of itself: its clock in milliseconds since 1970, its macros, and
-- whether it makes SharedMergeTree tables.
SELECT version() AS version, toInt64(toUnixTimestamp64Milli(now64(3))) AS clock, macros.shard AS shard, macros.replica AS replica, engines.shared AS shared
FROM (SELECT anyIf(substitution, macro = 'shard') AS shard, anyIf(substitution, macro = 'replica') AS replica FROM system.macros) AS macros
CROSS JOIN (SELECT toUInt64(count()) AS shared FROM system.table_engines WHERE name = 'SharedMergeTree') AS engines
