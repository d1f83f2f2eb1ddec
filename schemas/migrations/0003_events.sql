-- +goose Up
-- One row per node of a transaction, and one per created event of an assignment.
-- The body is "<contract id>\n<argument>\n<result>", argument and result being canonical
-- JSON in the encoding of the update. It is stored taken apart: body_shape has a mark in
-- place of each value, a byte 1 for a hexadecimal id, which is in body_ids (raw), a byte 2
-- for a party, which is in body_parties, a byte 3 for any other, which is in body_scalars
-- with a zero byte behind it. There are as many shapes as kinds of events, so they are low
-- in cardinality; ids are random and most of what is left after compression.
-- event_id is empty where it is <update_id>:<node>. synchronizer_id and encoding
-- repeat those of the update, so that lifetimes need no join. The columns from
-- node_offset to extras are told by a node's own stream only. The projection keeps, per
-- part, which templates there are and since when.
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
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
