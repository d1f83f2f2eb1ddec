-- +goose Up
-- What the shapes of events become with labels: see docs/decisions on labelled values. A row for each
-- template, interface, choice and shape. argument and result are the pieces of the labelled text; behind
-- each piece goes the value that argument_holes or result_holes name: 1 is nothing, from 2 on are the ids,
-- the parties and the scalars of the body, in that order; 65536 more for microseconds that become an instant,
-- 131072 more for days that become a date. Both lists are empty where there are no labels. The columns objects_*
-- are the same for the texts of published objects: values count in the order of the text there, from 2.
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
ENGINE = ReplacingMergeTree(labelled_at)
ORDER BY (stream, package_name, template_id, interface_id, choice, shape, constructors)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
