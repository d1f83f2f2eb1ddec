-- What follows coins between two offsets of a node's own stream: all exercises, and the creates and the
-- unassignments of coins. See coin_events.sql.
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
       if(package_name = 'splice-amulet' AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet')) AND (kind != 'exercised' OR consuming),
          xxHash64(concat({stream:String}, ' contract ', contract_id)), 0) AS contract,
       body_shape, if(kind = 'created' OR choice IN {told:Array(String)}, body_scalars, '') AS body_scalars,
       multiIf(choice IN {whole:Array(String)}, body_ids, choice IN {told:Array(String)}, arraySlice(body_ids, 1, 1), CAST([], 'Array(String)')) AS body_ids, body_parties,
       node_offset, acs_delta, last_descendant
FROM events
WHERE stream = {stream:String} AND node_offset > {after:Int64} AND node_offset <= {through:Int64}
  AND (kind = 'exercised'
    OR package_name = 'splice-amulet' AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet'))
      AND (kind = 'unassigned' OR has(signatories, {party:String})))
ORDER BY node_offset, node
