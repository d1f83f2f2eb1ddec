-- Of the updates at some record times of a migration those with an event of a party and one of a template and a
-- choice, between two positions, both exclusive.
SELECT record_time, update_id
FROM events
WHERE stream = {stream:String} AND migration_id = {migration:Int64}
  AND record_time IN {times:Array(DateTime64(6, 'UTC'))}
  AND (record_time, update_id) > (fromUnixTimestamp64Micro({after_time:Int64}, 'UTC'), {after_id:String})
  AND (record_time, update_id) < (fromUnixTimestamp64Micro({until_time:Int64}, 'UTC'), {until_id:String})
GROUP BY record_time, update_id
HAVING countIf(has(signatories, {party:String}) OR has(observers, {party:String}) OR has(acting_parties, {party:String})) > 0
   AND countIf(({choice:String} = '' OR choice = {choice:String})
               AND ({package:String} = '' OR package_name = {package:String})
               AND ({entity:String} = '' OR endsWith(template_id, concat(':', {entity:String})))) > 0
SETTINGS max_threads = 1, use_uncompressed_cache = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
