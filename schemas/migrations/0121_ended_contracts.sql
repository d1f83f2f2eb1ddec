-- +goose Up
-- Of each contract that ended on a node's own stream by an archival or an unassignment, what
-- the event that ended it does not tell, by the offset of that event. contract_key is
-- xxHash64 of the contract id. A contract that was created and archived by one update is
-- not here. Derived with the lifetimes, up to whose watermark it is complete.
CREATE TABLE IF NOT EXISTS ended_contracts
(
    stream          LowCardinality(String),
    archived_offset Int64 CODEC(Delta, ZSTD(1)),
    contract_key    UInt64,
    template_id     LowCardinality(String) CODEC(ZSTD(1)),
    signatories     Array(LowCardinality(String)) CODEC(ZSTD(1)),
    observers       Array(LowCardinality(String)) CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (stream, archived_offset, contract_key)
SETTINGS index_granularity = 512, ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
