-- How the tables of a database stand on a server.
SELECT replicas.replicated AS replicated, replicas.read_only AS read_only, replicas.delay AS delay, replicas.queue AS queue, settings.dictionary_size AS dictionary_size, caches.cache_size AS cache_size
FROM
(
    SELECT toUInt64(count()) AS replicated, toUInt64(countIf(is_readonly)) AS read_only, toUInt64(max(absolute_delay)) AS delay, toUInt64(sum(queue_size)) AS queue
    FROM system.replicas WHERE database = {database:String}
) AS replicas
CROSS JOIN (SELECT toUInt64(anyIf(value, name = 'low_cardinality_max_dictionary_size')) AS dictionary_size FROM system.settings) AS settings
CROSS JOIN (SELECT toUInt64(anyIf(value, name = 'uncompressed_cache_size')) AS cache_size FROM system.server_settings) AS caches
