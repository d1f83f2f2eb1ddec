-- For how long the server has run, in seconds.
SELECT toUInt64(uptime()) AS n
