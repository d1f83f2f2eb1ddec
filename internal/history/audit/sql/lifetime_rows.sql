-- What the events and what the tables of lifetimes say of the contracts in some buckets. The
-- offsets, which order a node's own stream, are 0 in public history.
SELECT migration_id, contract_id, derived, begin, end, begin_offset, end_offset, hash, template_name
FROM
(
    SELECT migration_id, contract_id, toUInt8(0) AS derived, toUnixTimestamp64Micro(record_time) AS at, node,
           if(kind = 'created', toUnixTimestamp64Micro(record_time), 0) AS begin,
           if(kind = 'created', 0, toUnixTimestamp64Micro(record_time)) AS end,
           node_offset AS offset, if(kind = 'created', node_offset, 0) AS begin_offset, if(kind = 'created', 0, node_offset) AS end_offset,
           if(kind = 'created',
              xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(record_time)), '\n', toString(node_offset), '\n',
                          update_id, '\n', synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                          concat(package_name, ':', substring(template_id, position(template_id, ':') + 1)), '\n',
                          template_id, '\n', package_name, '\n',
                          arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n', argument)), 0) AS hash,
           concat(package_name, ':', substring(template_id, position(template_id, ':') + 1)) AS template_name
    FROM events
    WHERE stream = {stream:String} AND (kind = 'created' AND (acs_delta OR node_offset = 0) OR consuming OR kind = 'unassigned')
      AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
      AND if({through_offset:Int64} > 0, node_offset <= {through_offset:Int64} AND NOT {within_imports:Bool},
           migration_id < {through_migration:Int64} OR (migration_id = {through_migration:Int64} AND NOT {within_imports:Bool}
           AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})))
    UNION ALL
    SELECT migration_id, contract_id, toUInt8(0) AS derived, toUnixTimestamp64Micro(record_time) AS at, toInt32(0) AS node,
           toInt64(0) AS begin, toUnixTimestamp64Micro(record_time) AS end,
           toInt64(0) AS offset, toInt64(0) AS begin_offset, toInt64(0) AS end_offset, toUInt64(0) AS hash, '' AS template_name
    FROM updates
    WHERE stream = {stream:String} AND kind = 'unassignment' AND node_offset = 0
      AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
      AND (migration_id < {through_migration:Int64} OR (migration_id = {through_migration:Int64} AND NOT {within_imports:Bool}
           AND (record_time, update_id) <= (fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})))
    UNION ALL
    SELECT migration_id, contract_id, toUInt8(0) AS derived, toInt64(-2208988800000000) AS at, toInt32(0) AS node,
           toInt64(-2208988800000000) AS begin, toInt64(0) AS end,
           node_offset AS offset, node_offset AS begin_offset, toInt64(0) AS end_offset,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n-2208988800000000\n', toString(node_offset), '\n\n',
                       synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                       concat(package_name, ':', substring(template_id, position(template_id, ':') + 1)), '\n',
                       template_id, '\n', package_name, '\n',
                       arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n', argument)) AS hash, '' AS template_name
    FROM imports
    WHERE stream = {stream:String}
      AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
      AND (migration_id < {through_migration:Int64} OR (migration_id = {through_migration:Int64}
           AND (NOT {within_imports:Bool} OR update_id <= {through_id:String})))
    UNION ALL
    SELECT migration_id, contract_id, toUInt8(1) AS derived, toUnixTimestamp64Micro(created_time) AS at, toInt32(0) AS node,
           toUnixTimestamp64Micro(created_time) AS begin, toUnixTimestamp64Micro(archived_at) AS end,
           created_offset AS offset, created_offset AS begin_offset, archived_offset AS end_offset,
           xxh3(concat(contract_id, '\n', toString(migration_id), '\n', toString(toUnixTimestamp64Micro(created_time)), '\n', toString(created_offset), '\n',
                       if(toUnixTimestamp64Micro(created_time) = -2208988800000000, '', created_in), '\n',
                       synchronizer_id, '\n', encoding, '\n', toString(toUnixTimestamp64Micro(created_at)), '\n',
                       template, '\n', template_id, '\n', package_name, '\n',
                       arrayStringConcat(signatories, '\t'), '\n', arrayStringConcat(observers, '\t'), '\n', argument)) AS hash, '' AS template_name
    FROM
    (
        SELECT *, argument FROM contracts_archived
        WHERE stream = {stream:String} AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
          AND (migration_id, contract_id, created_time) NOT IN (
              SELECT migration_id, contract_id, created_time FROM contracts_live
              WHERE stream = {stream:String} AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
                AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC'))
        UNION ALL
        SELECT *, argument FROM contracts_live
        WHERE stream = {stream:String} AND has({only:Array(UInt64)}, xxh3(contract_id) % {buckets:UInt64})
    )
)
ORDER BY migration_id, contract_id, derived, offset, at, node
