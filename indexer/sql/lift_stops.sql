-- Drops the reasons for which a stream must not go on.
ALTER TABLE milestones DELETE
WHERE stream = {stream:String} AND startsWith(name, {prefix:String})
SETTINGS mutations_sync = 2
