-- Which transfers wait for their receiver?
-- group: App operator
-- number: 32

SELECT contract_id, JSONExtractString(transfer, 'fields', 1, 'value', 'party') AS sender, JSONExtractString(transfer, 'fields', 2, 'value', 'party') AS receiver,
    toDecimal128(JSONExtractString(transfer, 'fields', 3, 'value', 'numeric'), 10) AS amount,
    fromUnixTimestamp64Micro(toInt64(JSONExtractString(transfer, 'fields', 6, 'value', 'timestamp')), 'UTC') AS execute_before
FROM (
    SELECT contract_id, JSONExtractRaw(argument, 'record', 'fields', 2, 'value', 'record') AS transfer
    FROM contracts_live
    WHERE stream = 'scan' AND template = 'splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction'
        AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan') AND archived_at > '2299-01-01'
)
ORDER BY execute_before, contract_id
