-- +goose Up
-- The movement ledger: a row for each party, pocket, cause and counterparty of a choice that changes
-- holdings. Derived from events and imports, see docs/analytics/README.md. The order is that of the
-- statement of a party.
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
ENGINE = MergeTree
PARTITION BY (migration_id, toYYYYMM(record_time))
ORDER BY (stream, party, instrument, migration_id, record_time, update_id, entry)
SETTINGS ratio_of_defaults_for_sparse_serialization = 1, string_serialization_version = 'single_stream', non_replicated_deduplication_window = 1000;
