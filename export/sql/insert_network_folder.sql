INSERT INTO network_folders
(stream, kind, start_time, end_time, version, state, objects, object_count, total_rows, total_bytes)
