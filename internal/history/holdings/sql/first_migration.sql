-- The migration with which a stream begins.
SELECT min(through_migration) AS id FROM batches WHERE stream = {stream:String} AND state = 'commit' AND sequence > 0 HAVING count() > 0
