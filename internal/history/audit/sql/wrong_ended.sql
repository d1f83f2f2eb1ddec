-- Where lifetimes of a node's own stream and ended_contracts differ, of one portion of all
-- contracts. A lifetime that is being moved stands in both of its tables.
SELECT archived_offset, contract_key, countIf(lifetime) AS lifetimes, countIf(NOT lifetime) AS ended
FROM
(
    SELECT DISTINCT archived_offset, xxHash64(contract_id) AS contract_key, cityHash64(template_id, signatories, observers) AS content, true AS lifetime
    FROM
    (
        SELECT archived_offset, contract_id, template_id, signatories, observers FROM contracts_archived
        WHERE stream = {stream:String} AND archived_offset > 0
        UNION ALL
        SELECT archived_offset, contract_id, template_id, signatories, observers FROM contracts_live
        WHERE stream = {stream:String} AND archived_offset > 0
    )
    WHERE contract_key % {portions:UInt64} = {portion:UInt64}
    UNION ALL
    SELECT archived_offset, contract_key, cityHash64(template_id, signatories, observers) AS content, false AS lifetime
    FROM ended_contracts
    WHERE stream = {stream:String} AND contract_key % {portions:UInt64} = {portion:UInt64}
)
GROUP BY archived_offset, contract_key
HAVING lifetimes != ended OR min(content) != max(content)
ORDER BY archived_offset, contract_key
LIMIT 1000
