-- Where updates of one migration stand, between two positions, both exclusive, that have an event of a
-- template and a choice; '' for any. A template is PACKAGE:Module:Entity, or its last part. Without an order and
-- a limit, which the caller appends.
SELECT record_time, update_id
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time >= fromUnixTimestamp64Micro({after_time:Int64}, 'UTC')
  AND record_time <= fromUnixTimestamp64Micro({until_time:Int64}, 'UTC')
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) < (fromUnixTimestamp64Micro({until_time:Int64}, 'UTC'), {until_id:String})
  AND ({choice:String} = '' OR choice = {choice:String})
  AND ({package:String} = '' OR package_name = {package:String})
  AND ({entity:String} = '' OR endsWith(template_id, concat(':', {entity:String})))
