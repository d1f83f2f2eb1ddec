-- The server that answers, and what it takes.
SELECT version() AS version, toFloat64(uptime()) AS uptime,
       toFloat64(ifNull((SELECT sum(value) FROM system.metrics WHERE metric = 'MemoryTracking'), 0)) AS memory,
       toFloat64(ifNull((SELECT toFloat64OrZero(any(value)) FROM system.server_settings WHERE name = 'max_server_memory_usage'), 0)) AS allowed,
       toFloat64(ifNull((SELECT sum(value) FROM system.metrics WHERE metric = 'Query'), 0)) AS queries
