-- Drops from the live table what move_ended has copied.
DELETE FROM contracts_live WHERE stream = {stream:String} AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
