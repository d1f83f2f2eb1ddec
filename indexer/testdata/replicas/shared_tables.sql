-- 0001_batches
CREATE TABLE IF NOT EXISTS batches
(
    stream            LowCardinality(String),
    sequence          Int64,
    state             Enum8('intent' = 1, 'commit' = 2, 'withdrawn' = 3, 'claim' = 4),
    after_migration   Int64,
    after_time        Int64,
    after_id          String,
    after_offset      Int64,
    through_migration Int64,
    through_time      Int64,
    through_id        String,
    through_offset    Int64,
    items             UInt64,
    events            UInt64,
    hash              String,
    writer            String,
    epoch             Int64,
    written_at        DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (stream, sequence, state)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0002_updates
CREATE TABLE IF NOT EXISTS updates
(
    stream                    LowCardinality(String),
    migration_id              Int64 CODEC(ZSTD(1)),
    record_time               DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id                 String CODEC(ZSTD(1)),
    kind                      LowCardinality(String) CODEC(ZSTD(1)),
    synchronizer_id           LowCardinality(String) CODEC(ZSTD(1)),
    encoding                  LowCardinality(String) CODEC(ZSTD(1)),
    workflow_id               String CODEC(ZSTD(1)),
    effective_at              DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    external_transaction_hash String CODEC(ZSTD(1)),
    root_events               Array(Int32) CODEC(ZSTD(1)),
    submitter                 LowCardinality(String) CODEC(ZSTD(1)),
    source_synchronizer       LowCardinality(String) CODEC(ZSTD(1)),
    target_synchronizer       LowCardinality(String) CODEC(ZSTD(1)),
    unassign_id               String CODEC(ZSTD(1)),
    reassignment_counter      Int64 CODEC(ZSTD(1)),
    contract_id               String CODEC(ZSTD(1)),
    node_offset               Int64 CODEC(Delta, ZSTD(1)),
    command_id                String CODEC(ZSTD(1)),
    paid_traffic_cost         Int64 DEFAULT -1 CODEC(ZSTD(1)),
    trace_context             String CODEC(ZSTD(1)),
    topology                  String CODEC(ZSTD(1)),
    extras                    String CODEC(ZSTD(1)),
    INDEX node_offset_range node_offset TYPE minmax GRANULARITY 1,
    INDEX update_id_bloom update_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX external_hash_bloom external_transaction_hash TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX contract_id_bloom contract_id TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION ranges
    (
        SELECT stream, migration_id, synchronizer_id, min(record_time), max(record_time)
        GROUP BY stream, migration_id, synchronizer_id
    )
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- 0003_events
CREATE TABLE IF NOT EXISTS events
(
    stream         LowCardinality(String),
    migration_id   Int64 CODEC(ZSTD(1)),
    record_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id      String CODEC(ZSTD(1)),
    node           Int32 CODEC(ZSTD(1)),
    kind           LowCardinality(String) CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    encoding       LowCardinality(String) CODEC(ZSTD(1)),
    event_id       String CODEC(ZSTD(1)),
    template_id    LowCardinality(String) CODEC(ZSTD(1)),
    package_name   LowCardinality(String) CODEC(ZSTD(1)),
    created_at     DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    signatories    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers      Array(LowCardinality(String)) CODEC(ZSTD(1)),
    choice         LowCardinality(String) CODEC(ZSTD(1)),
    interface_id   LowCardinality(String) CODEC(ZSTD(1)),
    consuming      Bool CODEC(ZSTD(1)),
    acting_parties Array(LowCardinality(String)) CODEC(ZSTD(1)),
    children       Array(Int32) CODEC(ZSTD(1)),
    body_shape      LowCardinality(String) CODEC(ZSTD(1)),
    body_scalars    String CODEC(ZSTD(1)),
    body_ids        Array(String) CODEC(ZSTD(3)),
    body_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    node_offset    Int64 CODEC(Delta, ZSTD(1)),
    witness_parties Array(LowCardinality(String)) CODEC(ZSTD(1)),
    acs_delta      Bool CODEC(ZSTD(1)),
    last_descendant Int32 CODEC(ZSTD(1)),
    extras         String CODEC(ZSTD(3)),
    body String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(body_shape)), splitByChar('\0', body_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), body_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), body_parties), ''))),
    contract_id    String ALIAS if(startsWith(body_shape, '\x01'), lower(hex(body_ids[1])), substringIndex(body_scalars, '\0', 1)),
    argument       String ALIAS splitByChar('\n', body)[2],
    result         String ALIAS splitByChar('\n', body)[3],
    INDEX node_offset_range node_offset TYPE minmax GRANULARITY 1,
    INDEX parties_bloom (signatories, observers, acting_parties, witness_parties) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX contract_id_bloom if(startsWith(body_shape, '\x01'), lower(hex(body_ids[1])), substringIndex(body_scalars, '\0', 1)) TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION templates
    (
        SELECT stream, package_name, template_id, interface_id, min(node_offset)
        GROUP BY stream, package_name, template_id, interface_id
    )
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id, node)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

