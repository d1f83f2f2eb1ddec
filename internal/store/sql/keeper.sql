-- Whether Keeper answers the server.
SELECT toUInt64(count()) AS n FROM system.zookeeper WHERE path = '/'
