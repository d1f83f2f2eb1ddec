-- The keys of every so-manieth contract after a key in an active set. It must select and
-- order as active.sql does. In one thread the rows come, and are numbered, in order.
SELECT created_at, contract_id
FROM
(
    SELECT created_at, contract_id, rowNumberInAllBlocks() AS place
    FROM
    (
        SELECT created_at, contract_id
        FROM
        (
            SELECT created_at, contract_id
            FROM contracts_live
            WHERE stream = {stream:String} AND migration_id = {migration:Int64}
              AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
              AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
              AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
              AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')
              AND (empty({templates:Array(String)}) OR has({templates:Array(String)}, template))
              AND (empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
            ORDER BY created_at, contract_id
            LIMIT {limit:UInt64}
            UNION ALL
            SELECT created_at, contract_id
            FROM contracts_archived
            WHERE stream = {stream:String} AND migration_id = {migration:Int64}
              AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
              AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
              AND created_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
              AND archived_at > fromUnixTimestamp64Micro({at:Int64}, 'UTC')
              AND (empty({templates:Array(String)}) OR has({templates:Array(String)}, template))
              AND (empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
            ORDER BY created_at, contract_id
            LIMIT {limit:UInt64}
        )
        ORDER BY created_at, contract_id
        LIMIT 1 BY contract_id
        LIMIT {limit:UInt64}
    )
)
WHERE place % {step:UInt64} = {step:UInt64} - 1
ORDER BY created_at, contract_id
SETTINGS max_threads = 1
