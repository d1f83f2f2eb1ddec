-- The back-fills of a stream that have met what is derived live.
SELECT name FROM milestones
WHERE stream = {stream:String} AND startsWith(name, {prefix:String})
