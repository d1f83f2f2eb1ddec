-- The room that the disks of a server have for tables.
SELECT sum(unreserved_space) AS n FROM system.disks
