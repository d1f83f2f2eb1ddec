INSERT INTO collections (stream, ended_at, expired, objects, bytes, uploads)
