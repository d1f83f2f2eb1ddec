-- Rows of table events out of the raw elements, each of which is parsed once.
INSERT INTO events
    (stream, migration_id, record_time, update_id, node, kind, synchronizer_id, encoding, event_id, template_id,
     package_name, created_at, signatories, observers, choice, interface_id, consuming, acting_parties, children,
     body_shape, body_scalars)
SELECT 'scan', migration_id, record_time, update_id,
       if(reassigned, 0, toInt32(substring(e.event_id, length(update_id) + 2))) AS node,
       if(e.event_type = 'created_event', 'created', 'exercised') AS kind,
       synchronizer_id, 'protobuf_json',
       if(e.event_id = concat(update_id, ':', toString(node)), '', e.event_id), e.template_id, e.package_name, e.created_at,
       arraySort(e.signatories), arraySort(e.observers), e.choice, e.interface_id, e.consuming, e.acting_parties,
       arrayMap(id -> toInt32(substring(id, length(update_id) + 2)), e.child_event_ids),
       '\x03\n\x03\n\x03', concat(e.contract_id, '\0', if(kind = 'created', e.create_arguments, e.choice_argument), '\0',
              multiIf(kind = 'created', '', e.exercise_result = '', 'null', e.exercise_result), '\0')
FROM
(
    SELECT JSONExtract(update, 'Tuple(
               events_by_id Map(String, Tuple(
                   acting_parties Array(String), child_event_ids Array(String), choice String, choice_argument String,
                   consuming Bool, contract_id String, create_arguments String, created_at DateTime64(6, \'UTC\'),
                   event_id String, event_type String, exercise_result String, interface_id String, observers Array(String),
                   package_name String, signatories Array(String), template_id String)),
               migration_id Int64, record_time DateTime64(6, \'UTC\'), synchronizer_id String, update_id String,
               event Tuple(
                   created_event Tuple(
                       acting_parties Array(String), child_event_ids Array(String), choice String, choice_argument String,
                       consuming Bool, contract_id String, create_arguments String, created_at DateTime64(6, \'UTC\'),
                       event_id String, event_type String, exercise_result String, interface_id String, observers Array(String),
                       package_name String, signatories Array(String), template_id String),
                   migration_id Int64, target_synchronizer String))') AS u,
           u.event.target_synchronizer != '' AS reassigned,
           u.record_time AS record_time, u.update_id AS update_id,
           if(reassigned, u.event.migration_id, u.migration_id) AS migration_id,
           if(reassigned, u.event.target_synchronizer, u.synchronizer_id) AS synchronizer_id,
           if(reassigned, [u.event.created_event], mapValues(u.events_by_id)) AS nodes
    FROM raw_events
    WHERE update != ''
)
ARRAY JOIN nodes AS e
WHERE e.event_type != ''
