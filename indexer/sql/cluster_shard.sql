-- What the server knows of a database: its comment.
SELECT comment FROM system.databases WHERE name = ?
