-- All packages. Two who add one at the same time may both have inserted it.
SELECT package_id, name, version, lf, upgraded_id, payload, source, seen_at
FROM packages
ORDER BY name, version, package_id, seen_at
LIMIT 1 BY package_id
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
