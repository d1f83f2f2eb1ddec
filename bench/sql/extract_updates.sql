-- Rows of table updates out of the raw elements.
INSERT INTO updates
    (stream, migration_id, record_time, update_id, kind, synchronizer_id, encoding, workflow_id, effective_at,
     external_transaction_hash, root_events, submitter, source_synchronizer, target_synchronizer, unassign_id,
     reassignment_counter, contract_id)
SELECT 'scan', if(kind = 'transaction', u.migration_id, u.event.migration_id), u.record_time, u.update_id,
       multiIf(u.event.source_synchronizer = '', 'transaction', u.event.created_event.contract_id = '', 'unassignment', 'assignment') AS kind,
       multiIf(kind = 'transaction', u.synchronizer_id, kind = 'assignment', u.event.target_synchronizer, u.event.source_synchronizer),
       'protobuf_json', u.workflow_id, u.effective_at, u.external_transaction_hash,
       arrayMap(id -> toInt32(substring(id, length(u.update_id) + 2)), u.root_event_ids),
       u.event.submitter, u.event.source_synchronizer, u.event.target_synchronizer, u.event.unassign_id,
       u.event.reassignment_counter, if(kind = 'assignment', u.event.created_event.contract_id, u.event.contract_id)
FROM
(
    SELECT JSONExtract(update, 'Tuple(
        effective_at DateTime64(6, \'UTC\'), external_transaction_hash String, migration_id Int64,
        record_time DateTime64(6, \'UTC\'), root_event_ids Array(String), synchronizer_id String, update_id String,
        workflow_id String, event Tuple(contract_id String, created_event Tuple(contract_id String), migration_id Int64,
            reassignment_counter Int64, source_synchronizer String, submitter String, target_synchronizer String,
            unassign_id String))') AS u
    FROM raw_events
    WHERE update != ''
)
