-- How often choices were exercised on contracts of a template up to an instant.
SELECT choice, interface_id, consuming, toInt64(count()) AS times, max(record_time) AS last
FROM events
WHERE stream = {stream:String} AND kind = 'exercised' AND package_name IN {packages:Array(String)} AND substring(template_id, position(template_id, ':')) IN {entities:Array(String)}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
GROUP BY choice, interface_id, consuming
ORDER BY times DESC, choice, interface_id
LIMIT 500
