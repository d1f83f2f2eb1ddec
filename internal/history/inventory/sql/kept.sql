-- The compiled packages that the store has, without their content.
SELECT package_id, name, version, lf, source, seen_at
FROM packages
ORDER BY name, version, package_id, seen_at DESC
LIMIT 1 BY package_id
LIMIT 5000
