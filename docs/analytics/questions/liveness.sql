-- How many rounds did each validator record its liveness, and how many did it miss?
-- group: Validator operator
-- number: 34

SELECT validator, first, last, last - first + 1 - missed AS collected, missed
FROM (
    SELECT JSONExtractString(argument, 'record', 'fields', 1, 'value', 'party') AS validator,
        JSONExtractRaw(argument, 'record', 'fields', 4, 'value', 'optional', 'value', 'record') AS state,
        JSONExtractInt(state, 'fields', 1, 'value', 'record', 'fields', 1, 'value', 'int64') AS first,
        JSONExtractInt(state, 'fields', 2, 'value', 'record', 'fields', 1, 'value', 'int64') AS last,
        JSONExtractInt(state, 'fields', 3, 'value', 'int64') AS missed
    FROM contracts_live
    WHERE stream = 'scan' AND template = 'splice-amulet:Splice.ValidatorLicense:ValidatorLicense' AND archived_at > '2299-01-01'
        AND migration_id = (SELECT max(migration_id) FROM updates WHERE stream = 'scan')
)
WHERE state != ''
ORDER BY validator
