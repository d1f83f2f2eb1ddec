-- databases
CREATE DATABASE IF NOT EXISTS `ledger_shard` COMMENT 'ledgerlake: shard 1 of 2, replica 1'

-- databases
CREATE DATABASE IF NOT EXISTS `ledger`

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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0001/batches', '{replica}')
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0002/updates', '{replica}')
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0003/events', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id, node)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- 0004_imports
CREATE TABLE IF NOT EXISTS imports
(
    stream          LowCardinality(String),
    migration_id    Int64 CODEC(ZSTD(1)),
    update_id       String CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    workflow_id     String CODEC(ZSTD(1)),
    effective_at    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    event_id        String CODEC(ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    node_offset     Int64 CODEC(ZSTD(1)),
    witness_parties Array(LowCardinality(String)) CODEC(ZSTD(1)),
    extras          String CODEC(ZSTD(3)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    PROJECTION counts
    (
        SELECT stream, migration_id, count(), max(update_id)
        GROUP BY stream, migration_id
    )
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0004/imports', '{replica}')
PARTITION BY migration_id
ORDER BY (stream, migration_id, update_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0005_verdicts
CREATE TABLE IF NOT EXISTS verdicts
(
    stream                     LowCardinality(String),
    migration_id               Int64 CODEC(ZSTD(1)),
    record_time                DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    update_id                  String CODEC(ZSTD(1)),
    synchronizer_id            LowCardinality(String) CODEC(ZSTD(1)),
    finalization_time          DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    submitting_parties         Array(LowCardinality(String)) CODEC(ZSTD(1)),
    submitting_participant_uid LowCardinality(String) CODEC(ZSTD(1)),
    result                     LowCardinality(String) CODEC(ZSTD(1)),
    mediator_group             Int32 CODEC(ZSTD(1)),
    round_number               Int64 CODEC(ZSTD(1)),
    views_shape      LowCardinality(String) CODEC(ZSTD(1)),
    views_scalars    String CODEC(ZSTD(1)),
    views_ids        Array(String) CODEC(ZSTD(3)),
    views_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    traffic_cost               Int64 DEFAULT -1 CODEC(ZSTD(1)),
    traffic_envelopes          String CODEC(ZSTD(3)),
    activity_round             Int64 DEFAULT -1 CODEC(ZSTD(1)),
    activity_records           String CODEC(ZSTD(3)),
    views String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(views_shape)), splitByChar('\0', views_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), views_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), views_parties), ''))),
    INDEX update_id_bloom update_id TYPE bloom_filter(0.001) GRANULARITY 1,
    PROJECTION by_day
    (
        SELECT stream, migration_id, synchronizer_id, submitting_participant_uid, toDate(record_time),
               sum(traffic_cost), countIf(traffic_cost < 0),
               min(if(activity_round < 0, 9223372036854775807, activity_round)), max(activity_round)
        GROUP BY stream, migration_id, synchronizer_id, submitting_participant_uid, toDate(record_time)
    )
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0005/verdicts', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- 0006_traffic
CREATE VIEW IF NOT EXISTS traffic AS
SELECT stream, migration_id, record_time, update_id, traffic_cost AS total_cost, traffic_envelopes AS envelopes
FROM verdicts
WHERE traffic_cost >= 0

-- 0007_app_activity
CREATE VIEW IF NOT EXISTS app_activity AS
SELECT stream, migration_id, record_time, update_id, activity_round AS round_number, activity_records AS records
FROM verdicts
WHERE activity_records != ''

-- 0008_contracts_live
CREATE TABLE IF NOT EXISTS contracts_live
(
    stream          LowCardinality(String),
    migration_id    Int64 CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    created_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    created_in      String CODEC(ZSTD(1)),
    archived_at     DateTime64(6, 'UTC') DEFAULT '2299-12-31 00:00:00' CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    template        LowCardinality(String) CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    created_offset  Int64 CODEC(ZSTD(1)),
    archived_offset Int64 CODEC(ZSTD(1)),
    lookup_key      String CODEC(ZSTD(1)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    INDEX created_time_range created_time TYPE minmax GRANULARITY 1,
    INDEX signatories_bloom signatories TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX observers_bloom observers TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX template_set template TYPE set(200) GRANULARITY 1,
    INDEX lookup_key_bloom lookup_key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0008/contracts_live', '{replica}')
ORDER BY (stream, migration_id, created_at, contract_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, enable_block_number_column = 1, enable_block_offset_column = 1

-- 0009_contracts_archived
CREATE TABLE IF NOT EXISTS contracts_archived
(
    stream          LowCardinality(String),
    migration_id    Int64 CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    created_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    created_in      String CODEC(ZSTD(1)),
    archived_at     DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    template        LowCardinality(String) CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    created_offset  Int64 CODEC(ZSTD(1)),
    archived_offset Int64 CODEC(ZSTD(1)),
    lookup_key      String CODEC(ZSTD(1)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    INDEX created_time_range created_time TYPE minmax GRANULARITY 1,
    INDEX archived_at_range archived_at TYPE minmax GRANULARITY 1,
    INDEX signatories_bloom signatories TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX observers_bloom observers TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX template_set template TYPE set(200) GRANULARITY 1,
    INDEX lookup_key_bloom lookup_key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0009/contracts_archived', '{replica}')
PARTITION BY (migration_id, toYYYYMM(archived_at))
ORDER BY (stream, migration_id, created_at, contract_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- 0010_contract_ends
CREATE TABLE IF NOT EXISTS contract_ends
(
    contract_id String,
    archived_at DateTime64(6, 'UTC'),
    archived_offset Int64
)
ENGINE = Join(ANY, LEFT, contract_id)

-- 0011_milestones
CREATE TABLE IF NOT EXISTS milestones
(
    stream     LowCardinality(String),
    name       LowCardinality(String),
    reached_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0011/milestones', '{replica}')
ORDER BY (stream, name, reached_at)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0100_segments
CREATE TABLE IF NOT EXISTS segments
(
    stream          LowCardinality(String),
    migration_id    Int64,
    segment_date    String,
    version         Int64,
    state           Enum8('withdrawn' = 0, 'published' = 1, 'staged' = 2, 'expired' = 3),
    start_time      Int64,
    end_time        Int64,
    manifest_key    String,
    manifest_sha256 String,
    manifest        String CODEC(ZSTD(3)),
    object_count    Int64,
    total_rows      Int64,
    total_bytes     Int64,
    root            String,
    chain_link      String,
    lookup_index    String CODEC(ZSTD(3)),
    lookup_objects  Int64,
    written_at      DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0100/segments', '{replica}')
ORDER BY (stream, migration_id, segment_date, version)
SETTINGS replicated_deduplication_window = 0

-- 0101_disagreements
CREATE TABLE IF NOT EXISTS disagreements
(
    stream            LowCardinality(String),
    found_at          DateTime64(6, 'UTC'),
    compared          LowCardinality(String),
    after_migration   Int64,
    after_time        Int64,
    after_id          String,
    through_migration Int64,
    through_time      Int64,
    through_id        String,
    resolved          Bool,
    upstream          LowCardinality(String),
    items             UInt64,
    digest            String,
    agreed            Bool
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0101/disagreements', '{replica}')
ORDER BY (stream, found_at, upstream)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0102_network_folders
CREATE TABLE IF NOT EXISTS network_folders
(
    stream       LowCardinality(String),
    kind         LowCardinality(String),
    start_time   Int64,
    end_time     Int64,
    version      Int64,
    state        Enum8('withdrawn' = 0, 'published' = 1, 'staged' = 2, 'expired' = 3),
    objects      String CODEC(ZSTD(3)),
    object_count Int64,
    total_rows   Int64,
    total_bytes  Int64,
    written_at   DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0102/network_folders', '{replica}')
ORDER BY (stream, kind, start_time, end_time, version)
SETTINGS replicated_deduplication_window = 0

-- 0103_export_disagreements
CREATE TABLE IF NOT EXISTS export_disagreements
(
    stream     LowCardinality(String),
    unit       String,
    peer       LowCardinality(String),
    object_key String,
    ours       String,
    theirs     String,
    found_at   DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/ledger_shard/0103/export_disagreements', '{replica}', found_at)
ORDER BY (stream, unit, peer, object_key, ours, theirs)
SETTINGS replicated_deduplication_window = 0

-- 0104_collections
CREATE TABLE IF NOT EXISTS collections
(
    stream   LowCardinality(String),
    ended_at DateTime64(6, 'UTC'),
    expired  Int64,
    objects  Int64,
    bytes    Int64,
    uploads  Int64
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0104/collections', '{replica}')
ORDER BY (stream, ended_at)
SETTINGS replicated_deduplication_window = 0

-- 0120_network_facts
CREATE TABLE IF NOT EXISTS network_facts
(
    stream     LowCardinality(String),
    operation  LowCardinality(String),
    arguments  String,
    valid_from DateTime64(6, 'UTC'),
    fetched_at DateTime64(6, 'UTC'),
    upstream   LowCardinality(String),
    sha256     String,
    body       String CODEC(ZSTD(3))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0120/network_facts', '{replica}')
ORDER BY (stream, operation, arguments, valid_from)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, index_granularity = 256

-- 0121_ended_contracts
CREATE TABLE IF NOT EXISTS ended_contracts
(
    stream          LowCardinality(String),
    archived_offset Int64 CODEC(Delta, ZSTD(1)),
    contract_key    UInt64,
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0121/ended_contracts', '{replica}')
ORDER BY (stream, archived_offset, contract_key)
SETTINGS index_granularity = 512, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0130_lookup_dictionaries
CREATE TABLE IF NOT EXISTS lookup_dictionaries
(
    stream  LowCardinality(String),
    id      UInt32,
    content String CODEC(ZSTD(3))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0130/lookup_dictionaries', '{replica}')
ORDER BY (stream, id)
SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0140_wallet_contracts
CREATE TABLE IF NOT EXISTS wallet_contracts
(
    stream          LowCardinality(String),
    party           LowCardinality(String) CODEC(ZSTD(1)),
    template        LowCardinality(String) CODEC(ZSTD(1)),
    contract_id     String CODEC(ZSTD(1)),
    node_offset     Int64 CODEC(ZSTD(1)),
    ended           Bool CODEC(ZSTD(1)),
    created_at      DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    created_in      String CODEC(ZSTD(1)),
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    package_name    LowCardinality(String) CODEC(ZSTD(1)),
    encoding        LowCardinality(String) CODEC(ZSTD(1)),
    synchronizer_id LowCardinality(String) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1)),
    argument_shape      LowCardinality(String) CODEC(ZSTD(1)),
    argument_scalars    String CODEC(ZSTD(1)),
    argument_ids        Array(String) CODEC(ZSTD(3)),
    argument_parties    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    blob            String CODEC(ZSTD(3)),
    lookup_key      String CODEC(ZSTD(1)),
    owner           LowCardinality(String) CODEC(ZSTD(1)),
    amount          Decimal(38, 10) CODEC(ZSTD(1)),
    rate            Decimal(38, 10) CODEC(ZSTD(1)),
    round           Int64 CODEC(ZSTD(1)),
    expires_at      DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    lock_holders    Array(LowCardinality(String)) CODEC(ZSTD(1)),
    argument String ALIAS arrayStringConcat(arrayMap((s, party) -> concat(s, party), splitByChar('\x02', arrayStringConcat(arrayMap((s, id) -> concat(s, id), splitByChar('\x01', arrayStringConcat(arrayMap((s, v) -> concat(s, v), splitByChar('\x03', toString(argument_shape)), splitByChar('\0', argument_scalars)))), arrayPushBack(arrayMap(id -> lower(hex(id)), argument_ids), '')))), arrayPushBack(arrayMap(p -> toString(p), argument_parties), ''))),
    INDEX contract_id_bloom contract_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX lookup_key_bloom lookup_key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0140/wallet_contracts', '{replica}')
PARTITION BY stream
ORDER BY (stream, party, template, contract_id, node_offset)
SETTINGS index_granularity = 512, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, enable_block_number_column = 1, enable_block_offset_column = 1

-- 0141_wallet_log
CREATE TABLE IF NOT EXISTS wallet_log
(
    stream           LowCardinality(String),
    party            LowCardinality(String) CODEC(ZSTD(1)),
    node_offset      Int64 CODEC(Delta, ZSTD(1)),
    entry            Int32 CODEC(ZSTD(1)),
    event_id         String CODEC(ZSTD(1)),
    kind             LowCardinality(String) CODEC(ZSTD(1)),
    template_id      LowCardinality(String) CODEC(ZSTD(1)),
    choice           LowCardinality(String) CODEC(ZSTD(1)),
    amulet_operation LowCardinality(String) CODEC(ZSTD(1)),
    interface_id     LowCardinality(String) CODEC(ZSTD(1)),
    effective_at     DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    sender           LowCardinality(String) CODEC(ZSTD(1)),
    sender_amount    Decimal(38, 10) CODEC(ZSTD(1)),
    receivers        Array(LowCardinality(String)) CODEC(ZSTD(1)),
    receiver_amounts Array(Decimal(38, 10)) CODEC(ZSTD(1)),
    holding_fees     Decimal(38, 10) CODEC(ZSTD(1)),
    app_rewards      Decimal(38, 10) CODEC(ZSTD(1)),
    validator_rewards Decimal(38, 10) CODEC(ZSTD(1)),
    sv_rewards       Decimal(38, 10) CODEC(ZSTD(1)),
    development_fund Decimal(38, 10) CODEC(ZSTD(1)),
    instruction_receiver LowCardinality(String) CODEC(ZSTD(1)),
    instruction_amount Decimal(38, 10) CODEC(ZSTD(1)),
    instruction_id   String CODEC(ZSTD(1)),
    description      String CODEC(ZSTD(1)),
    details          String CODEC(ZSTD(1)),
    INDEX event_id_bloom event_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0141/wallet_log', '{replica}')
PARTITION BY stream
ORDER BY (stream, party, node_offset, entry)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0142_wallet_status
CREATE TABLE IF NOT EXISTS wallet_status
(
    stream      LowCardinality(String),
    party       LowCardinality(String) CODEC(ZSTD(1)),
    kind        Enum8('offer' = 1, 'traffic' = 2) CODEC(ZSTD(1)),
    tracking_id String CODEC(ZSTD(1)),
    node_offset Int64 CODEC(ZSTD(1)),
    step        Int32 CODEC(ZSTD(1)),
    sender      LowCardinality(String) CODEC(ZSTD(1)),
    receiver    LowCardinality(String) CODEC(ZSTD(1)),
    status      LowCardinality(String) CODEC(ZSTD(1)),
    update_id   String CODEC(ZSTD(1)),
    contract_id String CODEC(ZSTD(1)),
    failure     LowCardinality(String) CODEC(ZSTD(1)),
    reason      String CODEC(ZSTD(1)),
    effective_at DateTime64(6, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0142/wallet_status', '{replica}')
PARTITION BY stream
ORDER BY (stream, party, kind, tracking_id, node_offset, step)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0150_party_offsets
CREATE TABLE IF NOT EXISTS party_offsets
(
    stream      LowCardinality(String),
    party_key   UInt64 CODEC(ZSTD(1)),
    node_offset Int64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0150/party_offsets', '{replica}')
ORDER BY (stream, party_key, node_offset)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0160_batch_rows
ALTER TABLE batches
    ADD COLUMN IF NOT EXISTS update_rows   Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS import_rows   Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS verdict_rows  Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS party_rows    Int64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS lifetime_rows Int64 DEFAULT -1

-- 0170_places
CREATE TABLE IF NOT EXISTS places
(
    stream       LowCardinality(String),
    kind         LowCardinality(String),
    place_key    UInt64 CODEC(Delta, ZSTD(1)),
    node_offset  Int64 CODEC(Delta, ZSTD(1)),
    migration_id Int64 CODEC(ZSTD(1)),
    record_time  DateTime64(6, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0170/places', '{replica}')
ORDER BY (place_key, node_offset, migration_id, record_time)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0171_place_rows
ALTER TABLE batches
    ADD COLUMN IF NOT EXISTS place_rows Int64 DEFAULT -1

-- 0173_drop_party_offsets
DROP TABLE IF EXISTS party_offsets

-- 0174_updates_filters
ALTER TABLE updates
    DROP INDEX IF EXISTS update_id_bloom,
    DROP INDEX IF EXISTS external_hash_bloom,
    DROP INDEX IF EXISTS contract_id_bloom

-- 0175_verdicts_filter
ALTER TABLE verdicts
    DROP INDEX IF EXISTS update_id_bloom

-- 0176_events_filter
ALTER TABLE events
    DROP INDEX IF EXISTS contract_id_bloom

-- 0177_batches_without_party_rows
ALTER TABLE batches
    DROP COLUMN IF EXISTS party_rows

-- 0180_places_are_filled
ALTER TABLE batches DELETE WHERE endsWith(stream, '/places') SETTINGS mutations_sync = 2

-- 0190_movements
CREATE TABLE IF NOT EXISTS movements
(
    stream       LowCardinality(String) COMMENT 'Stream of the update; scan is the public history',
    migration_id Int64 COMMENT 'Migration of the update, from 0' CODEC(ZSTD(1)),
    record_time  DateTime64(6, 'UTC') COMMENT 'Record time of the update; 1900-01-01 for an opening' CODEC(Delta, ZSTD(1)),
    update_id    String COMMENT 'The update' CODEC(ZSTD(1)),
    entry        Int32 COMMENT 'Number of the movement in its update, from 0' CODEC(ZSTD(1)),
    event        Int32 COMMENT 'Node of the choice that explains the movement; -1 for an opening' CODEC(ZSTD(1)),
    party        LowCardinality(String) COMMENT 'Party whose holdings change' CODEC(ZSTD(1)),
    instrument   LowCardinality(String) COMMENT 'ADMIN PARTY/ID of what is held; the id of the coin is Amulet' CODEC(ZSTD(1)),
    pocket       Enum8('unlocked' = 1, 'locked' = 2) COMMENT 'Whether the holding can be spent at once' CODEC(ZSTD(1)),
    amount       Decimal(38, 10) COMMENT 'Change in units of the instrument: above 0 for what the party gains; never 0' CODEC(ZSTD(1)),
    cause        Enum8('transfer' = 1, 'mint' = 2, 'burn' = 3, 'lock' = 4, 'opening' = 5, 'unexplained' = 6) COMMENT 'Why: lock is between the pockets of a party, in both directions; opening is what the stream begins with; unexplained is what no rule explains' CODEC(ZSTD(1)),
    class        LowCardinality(String) COMMENT 'Of a mint: app, validator_usage, validator_liveness, operator, activity_record, development_fund, tap or other; of a burn: traffic, fee, preapproval, name, expiry or leg; else empty' CODEC(ZSTD(1)),
    purpose      LowCardinality(String) COMMENT 'What the outermost choice that is known is for: transfer, merge, collect_rewards, traffic, name, subscription, app_payment, preapproval, send, command, instruction, allocation, settlement, unlock, expiry or tap' CODEC(ZSTD(1)),
    counterparty LowCardinality(String) COMMENT 'The other side of a transfer; else empty' CODEC(ZSTD(1)),
    round        Int64 COMMENT 'Newest mining round that was open at the record time, -1 if none was' CODEC(Delta, ZSTD(1)),
    stated_round Int64 COMMENT 'Mining round that the result of the choice names, -1 if it names none' CODEC(ZSTD(1)),
    choice       LowCardinality(String) COMMENT 'The choice that explains the movement, as stored' CODEC(ZSTD(1)),
    template     LowCardinality(String) COMMENT 'PACKAGE_NAME:Module.Name:Entity of the contract of the choice' CODEC(ZSTD(1)),
    reference    String COMMENT 'What the choice is about: the id of a member, a name, the contract of an instruction or allocation, the id of a leg; else empty' CODEC(ZSTD(1)),
    reason       String COMMENT 'What the sender wrote, or what a lock is for; else empty' CODEC(ZSTD(1)),
    source       Enum8('coins' = 1, 'log' = 2, 'opening' = 3, 'residual' = 4) COMMENT 'Where the amount comes from: coins that were created and consumed, what the stream begins with, or the rest that no rule explains' CODEC(ZSTD(1)),
    node_offset  Int64 COMMENT 'Offset on a node''s own stream; 0 in public history' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0190/movements', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, party, instrument, migration_id, record_time, update_id, entry)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0191_comments
-- comes by replication

-- 0195_packages
CREATE TABLE IF NOT EXISTS packages
(
    package_id  String,
    name        LowCardinality(String),
    version     String,
    lf          LowCardinality(String),
    upgraded_id String,
    payload     String CODEC(ZSTD(3)),
    source      LowCardinality(String),
    seen_at     DateTime64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0195/packages', '{replica}')
ORDER BY package_id
SETTINGS index_granularity = 64, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0220_labels
CREATE TABLE IF NOT EXISTS labels
(
    stream       LowCardinality(String),
    package_name LowCardinality(String),
    template_id  LowCardinality(String),
    interface_id LowCardinality(String),
    choice       LowCardinality(String),
    shape        UInt64,
    constructors Array(String) CODEC(ZSTD(3)),
    body_shape   String CODEC(ZSTD(3)),
    structure    Array(UInt32) CODEC(ZSTD(3)),
    argument     Array(String) CODEC(ZSTD(3)),
    argument_holes Array(UInt32) CODEC(ZSTD(3)),
    result       Array(String) CODEC(ZSTD(3)),
    result_holes Array(UInt32) CODEC(ZSTD(3)),
    objects_shape String CODEC(ZSTD(3)),
    objects_structure Array(UInt32) CODEC(ZSTD(3)),
    objects_argument_holes Array(UInt32) CODEC(ZSTD(3)),
    objects_result_holes Array(UInt32) CODEC(ZSTD(3)),
    catalog      UInt64,
    labelled_at  DateTime64(6, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/ledger_shard/0220/labels', '{replica}', labelled_at)
ORDER BY (stream, package_name, template_id, interface_id, choice, shape, constructors)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0221_labelled_events
CREATE VIEW IF NOT EXISTS labelled_events AS
WITH
    12622780800000000 AS cycle,
    (micros -> intDiv(micros + 2208988800000000 + 100 * cycle, cycle) - 100) AS cycles,
    (micros -> toString(fromUnixTimestamp64Micro(micros - cycle * cycles(micros), 'UTC'))) AS earlier,
    (micros -> concat(leftPad(toString(toInt64(substring(earlier(micros), 1, 4)) + 400 * cycles(micros)), 4, '0'), substring(earlier(micros), 5, 6), 'T',
                      substring(earlier(micros), 12, multiIf(micros % 1000000 = 0, 8, micros % 1000 = 0, 12, 15)), 'Z')) AS instant,
    ((held, hole) -> multiIf(hole < 65536, held[hole], hole < 131072, instant(toInt64OrZero(held[hole - 65536])),
                             substring(instant(toInt64OrZero(held[hole - 131072]) * 86400000000), 1, 10))) AS value
SELECT e.stream AS stream, e.migration_id AS migration_id, e.record_time AS record_time, e.update_id AS update_id, e.node AS node, e.kind AS kind,
       e.package_name AS package_name, e.template_id AS template_id, e.choice AS choice, e.interface_id AS interface_id, e.consuming AS consuming,
       e.contract_id AS contract_id,
       e.created_at AS created_at, e.signatories AS signatories, e.observers AS observers, e.acting_parties AS acting_parties, e.node_offset AS node_offset,
       if(empty(l.argument), e.stored_argument, arrayStringConcat(arrayMap((piece, hole) -> concat(piece, value(e.held, hole)), l.argument, l.argument_holes))) AS argument_text,
       if(empty(l.result), e.stored_result, arrayStringConcat(arrayMap((piece, hole) -> concat(piece, value(e.held, hole)), l.result, l.result_holes))) AS result_text,
       CAST(if(startsWith(argument_text, '{'), argument_text, concat('{"value":', argument_text, '}')), 'JSON') AS argument,
       CAST(multiIf(empty(result_text), '{}', startsWith(result_text, '{'), result_text, concat('{"value":', result_text, '}')), 'JSON') AS result
FROM
(
    SELECT *, contract_id, argument AS stored_argument, result AS stored_result, CAST(cityHash64(body_shape), 'UInt64') AS shape,
           arrayConcat([''], arrayMap(id -> lower(hex(id)), body_ids), arrayMap(party -> toString(party), body_parties), splitByChar('\0', body_scalars)) AS held
    FROM events
) AS e
LEFT JOIN
(
    SELECT package_name, template_id, interface_id, choice, shape, constructors, structure, argument, argument_holes, result, result_holes
    FROM labels FINAL
    WHERE NOT empty(argument) OR NOT empty(result)
) AS l
ON e.package_name = l.package_name AND e.template_id = l.template_id AND e.interface_id = l.interface_id AND e.choice = l.choice AND e.shape = l.shape
   AND arrayMap(at -> e.held[at], l.structure) = l.constructors

-- 0230_projections
CREATE TABLE IF NOT EXISTS projections
(
    table_name   String,
    kind         Enum8('contracts' = 1, 'choice' = 2, 'interface_choice' = 3),
    package_name LowCardinality(String),
    entity       String,
    choice       String,
    fill         Int64,
    shape        UInt64,
    written_at   DateTime64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0230/projections', '{replica}')
ORDER BY (table_name, written_at)
SETTINGS index_granularity = 64, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0231_projection_columns
CREATE TABLE IF NOT EXISTS projection_columns
(
    table_name  String,
    number      Int32,
    column_name String,
    column_type String,
    path        String,
    written_at  DateTime64(6, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0231/projection_columns', '{replica}')
ORDER BY (table_name, number)
SETTINGS index_granularity = 64, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0240_movement_hours
CREATE TABLE IF NOT EXISTS movement_hours
(
    stream       LowCardinality(String) COMMENT 'Stream of the movements; scan is the public history',
    migration_id Int64 COMMENT 'Migration of the movements, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive; 1900-01-01 for openings' CODEC(Delta, ZSTD(1)),
    round        Int64 COMMENT 'Newest mining round that was open, -1 if none was' CODEC(Delta, ZSTD(1)),
    instrument   LowCardinality(String) COMMENT 'ADMIN PARTY/ID of what is held' CODEC(ZSTD(1)),
    pocket       Enum8('unlocked' = 1, 'locked' = 2) COMMENT 'Whether the holdings can be spent at once' CODEC(ZSTD(1)),
    cause        Enum8('transfer' = 1, 'mint' = 2, 'burn' = 3, 'lock' = 4, 'opening' = 5, 'unexplained' = 6) COMMENT 'Why, as in movements' CODEC(ZSTD(1)),
    class        LowCardinality(String) COMMENT 'Kind of a mint or burn, as in movements; else empty' CODEC(ZSTD(1)),
    purpose      LowCardinality(String) COMMENT 'What the outermost choice that is known is for, as in movements' CODEC(ZSTD(1)),
    amount       Decimal(38, 10) COMMENT 'Sum of the amounts: the change of supply' CODEC(ZSTD(1)),
    movements    Int64 COMMENT 'Rows of movements' CODEC(ZSTD(1)),
    transfers    Int64 COMMENT 'Those by which a party receives coins of another one' CODEC(ZSTD(1)),
    volume       Decimal(38, 10) COMMENT 'What is received by them' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0240/movement_hours', '{replica}')
ORDER BY (stream, migration_id, hour, round, instrument, pocket, cause, class, purpose)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0241_balance_hours
CREATE TABLE IF NOT EXISTS balance_hours
(
    stream       LowCardinality(String) COMMENT 'Stream of the movements; scan is the public history',
    party        LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    instrument   LowCardinality(String) COMMENT 'ADMIN PARTY/ID of what it holds' CODEC(ZSTD(1)),
    migration_id Int64 COMMENT 'Migration of the movements, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive; 1900-01-01 for openings' CODEC(Delta, ZSTD(1)),
    unlocked     Decimal(38, 10) COMMENT 'What it holds at the end of the hour and can spend at once' CODEC(ZSTD(1)),
    locked       Decimal(38, 10) COMMENT 'What it holds then and cannot' CODEC(ZSTD(1)),
    held_before  Decimal(38, 10) COMMENT 'What it held before the hour, locked or not' CODEC(ZSTD(1)),
    first        Bool COMMENT 'Whether it never held any before' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0241/balance_hours', '{replica}')
ORDER BY (stream, party, instrument, migration_id, hour)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0242_network_hours
CREATE TABLE IF NOT EXISTS network_hours
(
    stream             LowCardinality(String) COMMENT 'scan, or scan/side for verdicts that came late; a verdict counts once',
    migration_id       Int64 COMMENT 'Migration, from 0' CODEC(ZSTD(1)),
    hour               DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive' CODEC(Delta, ZSTD(1)),
    updates            Int64 COMMENT 'Updates of public history' CODEC(ZSTD(1)),
    transactions       Int64 COMMENT 'Those that are transactions' CODEC(ZSTD(1)),
    events             Int64 COMMENT 'Their creates and exercises' CODEC(ZSTD(1)),
    accepted           Int64 COMMENT 'Verdicts that accept' CODEC(ZSTD(1)),
    rejected           Int64 COMMENT 'Verdicts that reject' CODEC(ZSTD(1)),
    undecided          Int64 COMMENT 'Verdicts with another result' CODEC(ZSTD(1)),
    private            Int64 COMMENT 'Accepting verdicts on updates that public history does not have' CODEC(ZSTD(1)),
    with_traffic       Int64 COMMENT 'Verdicts with a summary of traffic' CODEC(ZSTD(1)),
    traffic            Int64 COMMENT 'Traffic by these summaries, in bytes' CODEC(ZSTD(1)),
    updates_in_minute  Int64 COMMENT 'Most updates in a minute of it' CODEC(ZSTD(1)),
    updates_in_second  Int64 COMMENT 'The same in a second' CODEC(ZSTD(1)),
    verdicts_in_minute Int64 COMMENT 'Most verdicts in a minute' CODEC(ZSTD(1)),
    verdicts_in_second Int64 COMMENT 'The same in a second' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0242/network_hours', '{replica}')
ORDER BY (stream, migration_id, hour)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0243_party_hours
CREATE TABLE IF NOT EXISTS party_hours
(
    stream       LowCardinality(String) COMMENT 'scan, or scan/side for verdicts that came late',
    party        LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    migration_id Int64 COMMENT 'Migration, from 0' CODEC(ZSTD(1)),
    hour         DateTime64(6, 'UTC') COMMENT 'Start of the hour, exclusive' CODEC(Delta, ZSTD(1)),
    transactions Int64 COMMENT 'Accepting verdicts on transactions that it submitted, alone or with others' CODEC(ZSTD(1)),
    traffic      Int64 COMMENT 'Traffic of what it submitted, in bytes, accepted or not' CODEC(ZSTD(1)),
    active       Bool COMMENT 'Whether it signs, observes or acts in an event of public history' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0243/party_hours', '{replica}')
ORDER BY (stream, migration_id, hour, party)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0250_transfers
CREATE VIEW IF NOT EXISTS transfers AS
SELECT stream, migration_id, record_time, update_id, entry, event, counterparty AS sender, party AS receiver, instrument, amount, pocket, purpose, round,
       stated_round, choice, template, reference, reason
FROM movements
WHERE cause = 'transfer' AND amount > 0

-- 0251_mints
CREATE VIEW IF NOT EXISTS mints AS
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, amount, class, pocket, purpose, round, stated_round, choice, template, reference
FROM movements
WHERE cause = 'mint'

-- 0252_burns
CREATE VIEW IF NOT EXISTS burns AS
SELECT stream, migration_id, record_time, update_id, entry, event, party, instrument, -amount AS amount, class, pocket, purpose, round, stated_round, choice, template, reference
FROM movements
WHERE cause = 'burn'

-- 0253_holdings
CREATE VIEW IF NOT EXISTS holdings AS
SELECT stream, party, instrument, sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked, sum(amount) AS total,
       max(record_time) AS moved_at
FROM movements
GROUP BY stream, party, instrument
HAVING unlocked != 0 OR locked != 0

-- 0254_holdings_at
CREATE VIEW IF NOT EXISTS holdings_at AS
SELECT stream, party, instrument, sumIf(amount, pocket = 'unlocked') AS unlocked, sumIf(amount, pocket = 'locked') AS locked, sum(amount) AS total,
       max(record_time) AS moved_at
FROM movements
WHERE record_time <= {instant:DateTime64(6, 'UTC')}
GROUP BY stream, party, instrument
HAVING unlocked != 0 OR locked != 0

-- 0260_derived_objects
ALTER TABLE segments
    ADD COLUMN IF NOT EXISTS derived String,
    ADD COLUMN IF NOT EXISTS derived_sha256 String

-- 0275_round_entries
CREATE TABLE IF NOT EXISTS round_entries
(
    stream            LowCardinality(String) COMMENT 'Stream of the update, scan' CODEC(ZSTD(1)),
    round             Int64 COMMENT 'Mining round that the result of the choice names, or else the newest that was open; -1 for what the stream begins with' CODEC(Delta, ZSTD(1)),
    party             LowCardinality(String) COMMENT 'The party' CODEC(ZSTD(1)),
    migration_id      Int64 COMMENT 'Migration of the update, from 0' CODEC(ZSTD(1)),
    record_time       DateTime64(6, 'UTC') COMMENT 'Record time of the update; 1900-01-01 for what the stream begins with' CODEC(Delta, ZSTD(1)),
    app_rewards       Decimal(38, 10) COMMENT 'Coins that the party minted as rewards of apps' CODEC(ZSTD(1)),
    validator_rewards Decimal(38, 10) COMMENT 'Coins that the party minted as rewards of validators, for liveness too' CODEC(ZSTD(1)),
    traffic_bytes     Int64 COMMENT 'Traffic that the party bought, in bytes' CODEC(ZSTD(1)),
    traffic_purchases Int64 COMMENT 'How often it bought traffic' CODEC(ZSTD(1)),
    traffic_spent     Decimal(38, 10) COMMENT 'Coins that it paid for traffic' CODEC(ZSTD(1)),
    initial_change    Decimal(38, 10) COMMENT 'Change of its coins as of round 0: a coin counts its amount and its fee for each round before its creation' CODEC(ZSTD(1)),
    rate_change       Decimal(38, 10) COMMENT 'Change of the fees of its coins for a round' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0275/round_entries', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, round, party, migration_id, record_time)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000

-- 0179_small_granules
CREATE TABLE events_next AS events
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0179/events_next', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id, node)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- 0179_small_granules
CREATE TABLE verdicts_next AS verdicts
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/ledger_shard/0179/verdicts_next', '{replica}')
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 315360000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1

-- readers
CREATE OR REPLACE TABLE `batches` AS `ledger_shard`.`batches` ENGINE = Distributed('main', 'ledger_shard', 'batches', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `updates` AS `ledger_shard`.`updates` ENGINE = Distributed('main', 'ledger_shard', 'updates', xxHash64(update_id))

-- readers
CREATE OR REPLACE TABLE `events` AS `ledger_shard`.`events` ENGINE = Distributed('main', 'ledger_shard', 'events', xxHash64(update_id))

-- readers
CREATE OR REPLACE TABLE `imports` AS `ledger_shard`.`imports` ENGINE = Distributed('main', 'ledger_shard', 'imports', xxHash64(update_id))

-- readers
CREATE OR REPLACE TABLE `verdicts` AS `ledger_shard`.`verdicts` ENGINE = Distributed('main', 'ledger_shard', 'verdicts', xxHash64(update_id))

-- readers
CREATE OR REPLACE TABLE `contracts_live` AS `ledger_shard`.`contracts_live` ENGINE = Distributed('main', 'ledger_shard', 'contracts_live', xxHash64(contract_id))

-- readers
CREATE OR REPLACE TABLE `contracts_archived` AS `ledger_shard`.`contracts_archived` ENGINE = Distributed('main', 'ledger_shard', 'contracts_archived', xxHash64(contract_id))

-- readers
CREATE OR REPLACE TABLE `milestones` AS `ledger_shard`.`milestones` ENGINE = Distributed('main', 'ledger_shard', 'milestones', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `segments` AS `ledger_shard`.`segments` ENGINE = Distributed('main', 'ledger_shard', 'segments', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `disagreements` AS `ledger_shard`.`disagreements` ENGINE = Distributed('main', 'ledger_shard', 'disagreements', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `network_folders` AS `ledger_shard`.`network_folders` ENGINE = Distributed('main', 'ledger_shard', 'network_folders', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `export_disagreements` AS `ledger_shard`.`export_disagreements` ENGINE = Distributed('main', 'ledger_shard', 'export_disagreements', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `collections` AS `ledger_shard`.`collections` ENGINE = Distributed('main', 'ledger_shard', 'collections', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `network_facts` AS `ledger_shard`.`network_facts` ENGINE = Distributed('main', 'ledger_shard', 'network_facts', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `ended_contracts` AS `ledger_shard`.`ended_contracts` ENGINE = Distributed('main', 'ledger_shard', 'ended_contracts', contract_key)

-- readers
CREATE OR REPLACE TABLE `lookup_dictionaries` AS `ledger_shard`.`lookup_dictionaries` ENGINE = Distributed('main', 'ledger_shard', 'lookup_dictionaries', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `wallet_contracts` AS `ledger_shard`.`wallet_contracts` ENGINE = Distributed('main', 'ledger_shard', 'wallet_contracts', xxHash64(contract_id))

-- readers
CREATE OR REPLACE TABLE `wallet_log` AS `ledger_shard`.`wallet_log` ENGINE = Distributed('main', 'ledger_shard', 'wallet_log', xxHash64(party))

-- readers
CREATE OR REPLACE TABLE `wallet_status` AS `ledger_shard`.`wallet_status` ENGINE = Distributed('main', 'ledger_shard', 'wallet_status', xxHash64(party))

-- readers
CREATE OR REPLACE TABLE `places` AS `ledger_shard`.`places` ENGINE = Distributed('main', 'ledger_shard', 'places', place_key)

-- readers
CREATE OR REPLACE TABLE `movements` AS `ledger_shard`.`movements` ENGINE = Distributed('main', 'ledger_shard', 'movements', xxHash64(party))

-- readers
CREATE OR REPLACE TABLE `packages` AS `ledger_shard`.`packages` ENGINE = Distributed('main', 'ledger_shard', 'packages', length(package_id) * 0)

-- readers
CREATE OR REPLACE TABLE `labels` AS `ledger_shard`.`labels` ENGINE = Distributed('main', 'ledger_shard', 'labels', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `projections` AS `ledger_shard`.`projections` ENGINE = Distributed('main', 'ledger_shard', 'projections', length(table_name) * 0)

-- readers
CREATE OR REPLACE TABLE `projection_columns` AS `ledger_shard`.`projection_columns` ENGINE = Distributed('main', 'ledger_shard', 'projection_columns', length(table_name) * 0)

-- readers
CREATE OR REPLACE TABLE `movement_hours` AS `ledger_shard`.`movement_hours` ENGINE = Distributed('main', 'ledger_shard', 'movement_hours', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `balance_hours` AS `ledger_shard`.`balance_hours` ENGINE = Distributed('main', 'ledger_shard', 'balance_hours', xxHash64(party))

-- readers
CREATE OR REPLACE TABLE `network_hours` AS `ledger_shard`.`network_hours` ENGINE = Distributed('main', 'ledger_shard', 'network_hours', length(stream) * 0)

-- readers
CREATE OR REPLACE TABLE `party_hours` AS `ledger_shard`.`party_hours` ENGINE = Distributed('main', 'ledger_shard', 'party_hours', xxHash64(party))

-- readers
CREATE OR REPLACE TABLE `round_entries` AS `ledger_shard`.`round_entries` ENGINE = Distributed('main', 'ledger_shard', 'round_entries', xxHash64(party))

