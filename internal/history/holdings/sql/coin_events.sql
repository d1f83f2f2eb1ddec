-- What follows coins in a range of one migration's history: all exercises, and creates of coins, of mining
-- rounds and of names. Bodies are cut to what is needed: their ids are most of the bytes, and only some
-- choices need them.
SELECT migration_id, record_time, update_id, node, kind, template_id, package_name, choice, interface_id, encoding, consuming, children,
       if((kind = 'created' OR consuming) AND package_name = 'splice-amulet' AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet')),
          xxHash64(concat({stream:String}, ' contract ', contract_id)), 0) AS contract,
       body_shape, if(kind = 'created' OR choice IN {told:Array(String)}, body_scalars, '') AS body_scalars,
       multiIf(choice IN {whole:Array(String)}, body_ids, choice IN {told:Array(String)}, arraySlice(body_ids, 1, 1), CAST([], 'Array(String)')) AS body_ids, body_parties
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  AND (record_time, update_id) >= (fromUnixTimestamp64Micro({first_time:Int64}, 'UTC'), {first_id:String})
  AND (record_time, update_id) <= (fromUnixTimestamp64Micro({last_time:Int64}, 'UTC'), {last_id:String})
  AND (kind = 'exercised'
    OR package_name = 'splice-amulet' AND has(signatories, {party:String})
      AND (endsWith(template_id, ':Splice.Amulet:Amulet') OR endsWith(template_id, ':Splice.Amulet:LockedAmulet') OR endsWith(template_id, ':Splice.Round:OpenMiningRound'))
    OR package_name = 'splice-amulet-name-service' AND endsWith(template_id, ':Splice.Ans:AnsEntry'))
  AND update_id NOT IN
  (
      SELECT update_id FROM updates
      WHERE stream = {stream:String} AND migration_id = {migration:Int64} AND kind != 'transaction'
        AND record_time >= fromUnixTimestamp64Micro({first_time:Int64}, 'UTC')
        AND record_time <= fromUnixTimestamp64Micro({last_time:Int64}, 'UTC')
  )
ORDER BY record_time, update_id, node
