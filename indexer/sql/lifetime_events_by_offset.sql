-- What begins or ends a lifetime between two offsets of a node's own stream, in its order.
-- A create that did not change the set of contracts active on the node, because none of
-- its parties is a stakeholder, begins none.
SELECT migration_id, record_time, update_id, node, node_offset, kind, created_at, synchronizer_id, template_id, package_name, encoding,
       signatories, observers, body_shape,
           if(kind = 'created', body_scalars, concat(substringIndex(body_scalars, '\0', 1), '\0')) AS body_scalars,
       if(kind = 'created', body_ids, arraySlice(body_ids, 1, 1)) AS body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND (kind = 'created' AND acs_delta OR kind = 'exercised' AND consuming OR kind = 'unassigned')
ORDER BY node_offset, node
