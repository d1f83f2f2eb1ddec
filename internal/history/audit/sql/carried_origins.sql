-- Contracts that were carried over and whose lifetime names another creating update than
-- the lifetimes of earlier migrations, of one portion of all contracts. 1900 is a number here: on a
-- cluster shards cannot read what ClickHouse writes for a time before 1970 that it moves down to them.
WITH lifetimes AS
(
    SELECT migration_id, contract_id, created_time, created_in FROM contracts_live
    WHERE stream = {stream:String} AND ({portions:UInt64} = 1 OR xxh3(contract_id) % {portions:UInt64} = {portion:UInt64})
    UNION ALL
    SELECT migration_id, contract_id, created_time, created_in FROM contracts_archived
    WHERE stream = {stream:String} AND ({portions:UInt64} = 1 OR xxh3(contract_id) % {portions:UInt64} = {portion:UInt64})
)
SELECT c.migration_id, c.contract_id, c.created_in, arrayStringConcat(o.origins, ' or ') AS elsewhere
FROM
(
    SELECT migration_id, contract_id, created_in FROM lifetimes
    WHERE toUnixTimestamp64Micro(created_time) = -2208988800000000
) AS c
LEFT JOIN
(
    -- What began within history; what was carried over before only repeats it. The hashes
    -- choose what is grouped: one that two contracts share does no harm.
    SELECT contract_id, groupUniqArray(created_in) AS origins, min(migration_id) AS first_migration
    FROM lifetimes
    WHERE toUnixTimestamp64Micro(created_time) > -2208988800000000 AND created_in != ''
      AND xxh3(contract_id) IN (SELECT xxh3(contract_id) FROM lifetimes WHERE toUnixTimestamp64Micro(created_time) = -2208988800000000)
    GROUP BY contract_id
) AS o ON c.contract_id = o.contract_id
WHERE if(empty(o.origins) OR o.first_migration >= c.migration_id, c.created_in != '', NOT has(o.origins, c.created_in))
ORDER BY c.migration_id, c.contract_id
LIMIT 1000
