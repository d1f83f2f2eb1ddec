-- Like active_keys.sql, of contracts that some updates sent to another synchronizer.
SELECT created_at, contract_id, created_time, synchronizer_id, created_offset, archived_offset
FROM
(
    SELECT created_at, contract_id, created_time, synchronizer_id, created_offset, archived_offset
    FROM contracts_live
    WHERE stream = {stream:String} AND migration_id = 0
      AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
      AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
      AND archived_offset IN {offsets:Array(Int64)}
      AND (template_id IN {templates:Array(String)}) = notEmpty({templates:Array(String)})
      AND indexHint(empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
      AND (empty({parties:Array(String)}) OR arrayExists(p -> p IN {parties:Array(String)}, signatories) OR arrayExists(p -> p IN {parties:Array(String)}, observers))
    ORDER BY created_at, contract_id
    LIMIT {limit:UInt32}
    UNION ALL
    SELECT created_at, contract_id, created_time, synchronizer_id, created_offset, archived_offset
    FROM contracts_archived
    WHERE stream = {stream:String} AND migration_id = 0
      AND created_at >= fromUnixTimestamp64Micro({after_created:Int64}, 'UTC')
      AND (created_at, contract_id) > (fromUnixTimestamp64Micro({after_created:Int64}, 'UTC'), {after_id:String})
      AND archived_offset IN {offsets:Array(Int64)}
      AND (template_id IN {templates:Array(String)}) = notEmpty({templates:Array(String)})
      AND indexHint(empty({parties:Array(String)}) OR hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))
      AND (empty({parties:Array(String)}) OR arrayExists(p -> p IN {parties:Array(String)}, signatories) OR arrayExists(p -> p IN {parties:Array(String)}, observers))
    ORDER BY created_at, contract_id
    LIMIT {limit:UInt32}
)
ORDER BY created_at, contract_id
LIMIT 1 BY contract_id
LIMIT {limit:UInt32}
SETTINGS local_filesystem_read_method = 'pread'
