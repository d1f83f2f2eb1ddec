-- What peers of a stream had other bytes of, each object of a peer once.
SELECT stream, unit, peer, object_key, ours, theirs
FROM export_disagreements FINAL
WHERE stream = {stream:String}
ORDER BY unit DESC, peer, object_key
LIMIT {most:UInt32}
