-- Whether a database has the notes of a copy.
SELECT count() FROM system.tables WHERE database = ? AND name = 'reshard'
