-- What the tables of this database take on disk.
SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE active AND database = currentDatabase()
