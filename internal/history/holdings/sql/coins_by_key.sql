-- The events that created some coins, found by their places, or else what carried them over. The first
-- column of bodies is that of the contract.
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
       xxHash64(concat({stream:String}, ' contract ', contract_id)) AS contract, body_shape, body_scalars, CAST([], 'Array(String)') AS body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND kind = 'created' AND package_name = 'splice-amulet' AND has(signatories, {party:String})
  AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet'))
  AND (migration_id, record_time) IN (SELECT migration_id, record_time FROM places WHERE place_key IN {keys:Array(UInt64)})
  AND xxHash64(concat({stream:String}, ' contract ', contract_id)) IN {keys:Array(UInt64)}
