INSERT INTO export_disagreements (stream, unit, peer, object_key, ours, theirs)
