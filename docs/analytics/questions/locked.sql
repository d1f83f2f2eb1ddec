-- What is locked at an instant, for whom and until when?
-- group: Auditor
-- number: 25
-- at DateTime = 2100-01-01 00:00:00: the instant
-- example: at=2026-07-01 12:00:00

SELECT JSONExtractString(coin, 'fields', 2, 'value', 'party') AS owner,
    toDecimal128(JSONExtractString(coin, 'fields', 3, 'value', 'record', 'fields', 1, 'value', 'numeric'), 10) AS amount,
    arrayMap(holder -> JSONExtractString(holder, 'party'), JSONExtractArrayRaw(lock, 'fields', 1, 'value', 'list', 'elements')) AS holders,
    fromUnixTimestamp64Micro(toInt64(JSONExtractString(lock, 'fields', 2, 'value', 'timestamp')), 'UTC') AS expires_at,
    JSONExtractString(lock, 'fields', 3, 'value', 'optional', 'value', 'text') AS context
FROM (
    SELECT JSONExtractRaw(argument, 'record', 'fields', 1, 'value', 'record') AS coin,
        JSONExtractRaw(argument, 'record', 'fields', 2, 'value', 'record') AS lock
    FROM (
        SELECT contract_id, argument FROM contracts_live
        WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Amulet:LockedAmulet' AND created_time <= {at:DateTime} AND archived_at > {at:DateTime}
        UNION ALL
        SELECT contract_id, argument FROM contracts_archived
        WHERE stream = 'scan' AND template = 'splice-amulet:Splice.Amulet:LockedAmulet' AND created_time <= {at:DateTime} AND archived_at > {at:DateTime}
    )
    LIMIT 1 BY contract_id
)
ORDER BY expires_at, owner, amount
