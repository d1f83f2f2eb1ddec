-- Makes a table like events with small granules, without rows: its other properties are those of events.
CREATE TABLE events_next AS events
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, migration_id, record_time, update_id, node)
SETTINGS index_granularity = 1024, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000, merge_selector_base = 12, min_parts_to_merge_at_once = 24,
    min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1
