-- +goose Up
-- Events with their arguments and results in the labelled form. Instants that the calendar of the engine does not
-- have, from 2300 on, are computed in the same year of an earlier cycle of 400 years.
CREATE VIEW IF NOT EXISTS labelled_events AS
WITH
    12622780800000000 AS cycle,
    (micros -> intDiv(micros + 2208988800000000 + 100 * cycle, cycle) - 100) AS cycles,
    (micros -> toString(fromUnixTimestamp64Micro(micros - cycle * cycles(micros), 'UTC'))) AS earlier,
    (micros -> concat(leftPad(toString(toInt64(substring(earlier(micros), 1, 4)) + 400 * cycles(micros)), 4, '0'), substring(earlier(micros), 5, 6), 'T',
                      substring(earlier(micros), 12, multiIf(micros % 1000000 = 0, 8, micros % 1000 = 0, 12, 15)), 'Z')) AS instant,
    ((held, hole) -> multiIf(hole < 65536, held[hole], hole < 131072, instant(toInt64OrZero(held[hole - 65536])),
                             substring(instant(toInt64OrZero(held[hole - 131072]) * 86400000000), 1, 10))) AS value
SELECT e.stream AS stream, e.migration_id AS migration_id, e.record_time AS record_time, e.update_id AS update_id, e.node AS node, e.kind AS kind,
       e.package_name AS package_name, e.template_id AS template_id, e.choice AS choice, e.interface_id AS interface_id, e.consuming AS consuming,
       e.contract_id AS contract_id,
       e.created_at AS created_at, e.signatories AS signatories, e.observers AS observers, e.acting_parties AS acting_parties, e.node_offset AS node_offset,
       if(empty(l.argument), e.stored_argument, arrayStringConcat(arrayMap((piece, hole) -> concat(piece, value(e.held, hole)), l.argument, l.argument_holes))) AS argument_text,
       if(empty(l.result), e.stored_result, arrayStringConcat(arrayMap((piece, hole) -> concat(piece, value(e.held, hole)), l.result, l.result_holes))) AS result_text,
       CAST(if(startsWith(argument_text, '{'), argument_text, concat('{"value":', argument_text, '}')), 'JSON') AS argument,
       CAST(multiIf(empty(result_text), '{}', startsWith(result_text, '{'), result_text, concat('{"value":', result_text, '}')), 'JSON') AS result
FROM
(
    SELECT *, contract_id, argument AS stored_argument, result AS stored_result, CAST(cityHash64(body_shape), 'UInt64') AS shape,
           arrayConcat([''], arrayMap(id -> lower(hex(id)), body_ids), arrayMap(party -> toString(party), body_parties), splitByChar('\0', body_scalars)) AS held
    FROM events
) AS e
LEFT JOIN
(
    SELECT package_name, template_id, interface_id, choice, shape, constructors, structure, argument, argument_holes, result, result_holes
    FROM labels FINAL
    WHERE NOT empty(argument) OR NOT empty(result)
) AS l
ON e.package_name = l.package_name AND e.template_id = l.template_id AND e.interface_id = l.interface_id AND e.choice = l.choice AND e.shape = l.shape
   AND arrayMap(at -> e.held[at], l.structure) = l.constructors;
