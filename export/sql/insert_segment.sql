INSERT INTO segments
(stream, migration_id, segment_date, version, state, start_time, end_time,
 manifest_key, manifest_sha256, manifest, object_count, total_rows, total_bytes,
 root, chain_link, lookup_index, lookup_objects)
