-- A number that is the same for the same packages.
SELECT groupBitXor(cityHash64(package_id)) AS n
FROM (SELECT DISTINCT package_id FROM packages)
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread'
