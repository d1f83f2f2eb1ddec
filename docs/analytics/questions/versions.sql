-- Which versions do the validators run?
-- group: Validator operator
-- number: 40

SELECT JSONExtractString(argument, 'record', 'fields', 5, 'value', 'optional', 'value', 'record', 'fields', 2, 'value', 'text') AS version, count() AS validators,
    max(fromUnixTimestamp64Micro(JSONExtractInt(argument, 'record', 'fields', 6, 'value', 'optional', 'value', 'timestamp'), 'UTC')) AS last_active
FROM contracts_live
WHERE stream = 'scan' AND template = 'splice-amulet:Splice.ValidatorLicense:ValidatorLicense' AND archived_at > '2299-01-01'
    AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
GROUP BY version
ORDER BY validators DESC, version
