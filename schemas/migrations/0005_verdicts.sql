-- +goose Up
-- The mediator's decisions, also on rejected and private transactions.
-- round_number is -1 where the upstream names no round. Traffic summary and app activity
-- only ever come with a verdict and so stand in its row: traffic_cost is -1 and
-- activity_records is empty where there is none. The views are stored like the body of
-- an event, see there. The projection keeps, per part and by day, what members paid for
-- traffic and the rounds with activity.
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
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
