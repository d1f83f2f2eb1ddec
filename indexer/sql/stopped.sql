-- Why a stream must not go on, if it was stopped for good.
SELECT name FROM milestones
WHERE stream = {stream:String} AND startsWith(name, {prefix:String})
ORDER BY reached_at
LIMIT 1
