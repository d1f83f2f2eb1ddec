-- The typed tables, each as it was recorded last, and whether it is filled and derived live from a stream.
SELECT table_name, package_name, entity, choice, fill,
       CAST(concat({joined:String}, toString(fill)) IN (SELECT toString(name) FROM milestones WHERE stream = {stream:String}), 'Bool') AS joined
FROM projections
ORDER BY table_name, written_at DESC
LIMIT 1 BY table_name
