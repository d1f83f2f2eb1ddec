-- +goose Up
-- One row per node of a transaction, and one per created event of an assignment.
-- body is "<contract id>\n<argument>\n<result>", argument and result being canonical JSON
-- in the encoding of the update. One column, because the same contract ids stand in all
-- three and are random: compressed together, in large blocks, they are stored once.
-- event_id is empty where it is <update_id>:<node>. synchronizer_id and encoding
-- repeat those of the update, so that lifetimes need no join.
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
    body           String CODEC(ZSTD(2, 22)) SETTINGS (min_compress_block_size = 4194304, max_compress_block_size = 4194304),
    contract_id    String ALIAS substringIndex(body, '\n', 1),
    argument       String ALIAS splitByChar('\n', body)[2],
    result         String ALIAS splitByChar('\n', body)[3],
    INDEX contract_id_bloom substringIndex(body, '\n', 1) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id, node)
SETTINGS non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24;
