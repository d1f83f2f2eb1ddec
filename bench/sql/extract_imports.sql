-- Rows of table imports out of the raw elements, each of which has one event.
INSERT INTO imports
    (stream, migration_id, update_id, synchronizer_id, encoding, workflow_id, effective_at, event_id, contract_id,
     template_id, package_name, argument_shape, argument_scalars, created_at, signatories, observers)
SELECT 'scan', migration_id, update_id, synchronizer_id, 'protobuf_json', workflow_id, effective_at,
       if(e.event_id = concat(update_id, ':0'), '', e.event_id), e.contract_id, e.template_id, e.package_name,
       '\x03', concat(e.create_arguments, '\0'), e.created_at, arraySort(e.signatories), arraySort(e.observers)
FROM
(
    SELECT migration_id, update_id, synchronizer_id, workflow_id, toDateTime64(effective_at, 6, 'UTC') AS effective_at,
           mapValues(JSONExtract(events_by_id, 'Map(String, Tuple(
               contract_id String, create_arguments String, created_at DateTime64(6, \'UTC\'), event_id String,
               observers Array(String), package_name String, signatories Array(String), template_id String))'))[1] AS e
    FROM raw_imports
)
