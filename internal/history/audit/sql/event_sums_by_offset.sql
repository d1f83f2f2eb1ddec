-- Events as store.EventSums: those of a node's own stream between two offsets, both inclusive. The
-- text up to FROM is that of event_sums_between.sql.
WITH
    (list -> arraySum(arrayMap((text, n) -> xxh3(text) * n, list, arrayEnumerate(list)))) AS list_hash,
    (list -> arraySum(arrayMap((number, n) -> intHash64(toUInt64(number)) * n, list, arrayEnumerate(list)))) AS number_hash,
    list_hash(signatories) AS signatories_hash,
    list_hash(observers) AS observers_hash,
    arrayMap(id -> xxh3(id), body_ids) AS id_hashes,
    arraySum(arrayMap((hash, n) -> hash * n, id_hashes, arrayEnumerate(id_hashes))) AS ids_hash,
    list_hash(body_parties) AS parties_hash,
    if(startsWith(body_shape, '\x01'), toUInt64(ids_hash - arraySum(id_hashes)), ids_hash) AS argument_ids_hash,
    intHash64(intHash64(intHash64(intHash64(toUInt64(0) + toUInt64(migration_id)) + toUInt64(toUnixTimestamp64Micro(record_time))) + xxh3(update_id)) + toUInt64(node)) AS hash_to_node,
    intHash64(intHash64(intHash64(intHash64(hash_to_node + xxh3(kind)) + xxh3(synchronizer_id)) + xxh3(encoding)) + xxh3(event_id)) AS hash_to_event_id,
    intHash64(intHash64(intHash64(hash_to_event_id + xxh3(template_id)) + xxh3(package_name)) + toUInt64(toUnixTimestamp64Micro(created_at))) AS hash_to_created_at,
    intHash64(intHash64(hash_to_created_at + signatories_hash) + observers_hash) AS hash_to_observers,
    intHash64(intHash64(intHash64(hash_to_observers + xxh3(choice)) + xxh3(interface_id)) + toUInt64(consuming)) AS hash_to_consuming,
    intHash64(intHash64(hash_to_consuming + list_hash(acting_parties)) + number_hash(children)) AS hash_to_children,
    intHash64(intHash64(hash_to_children + toUInt64(node_offset)) + list_hash(witness_parties)) AS hash_to_witnesses,
    intHash64(intHash64(intHash64(hash_to_witnesses + toUInt64(acs_delta)) + toUInt64(last_descendant)) + xxh3(extras)) AS hash_to_extras,
    intHash64(intHash64(hash_to_extras + xxh3(body_shape)) + xxh3(body_scalars)) AS hash_to_scalars,
    intHash64(intHash64(hash_to_scalars + ids_hash) + parties_hash) AS row_hash_of_all,
    intHash64(intHash64(intHash64(toUInt64(toUnixTimestamp64Micro(created_at))) + signatories_hash) + observers_hash) AS create_to_observers
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, consuming, children,
       node_offset, acs_delta, last_descendant, body_shape, body_scalars, xxh3(lower(hex(body_ids[1]))) AS contract_hash,
       intHash64(intHash64(create_to_observers + argument_ids_hash) + parties_hash) AS create_hash, row_hash_of_all AS row_hash
FROM events
WHERE stream = {stream:String} AND node_offset >= {first:Int64} AND node_offset <= {last:Int64}
ORDER BY node_offset, node
-- Otherwise the columns would be sorted before they are hashed.
SETTINGS query_plan_execute_functions_after_sorting = 0
