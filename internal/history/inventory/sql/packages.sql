-- The packages of the templates of events up to an instant: how many events have one, and when the first and the last.
SELECT package_name, substring(template_id, 1, position(template_id, ':') - 1) AS package, toInt64(count()) AS events,
       toInt64(uniqExact(template_id)) AS templates, min(record_time) AS first, max(record_time) AS last
FROM events
WHERE stream = {stream:String}
  AND (migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})
  AND record_time <= fromUnixTimestamp64Micro({at:Int64}, 'UTC')
GROUP BY package_name, package
ORDER BY package_name, first
LIMIT 5000
