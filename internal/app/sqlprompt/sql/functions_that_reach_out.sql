-- Names of functions, in lower case, that may read or write beyond the store's tables: all table
-- functions but those that make or read rows of this server, what somebody has defined on it, and
-- functions of files, models and other services.
SELECT lower(name) AS name
FROM system.table_functions
WHERE lower(name) NOT IN ('format', 'generate_series', 'generaterandom', 'generateseries', 'merge',
    'mergetreeindex', 'mergetreeprojection', 'null', 'numbers', 'numbers_mt', 'primes', 'sqlstandardvalues',
    'values', 'view', 'viewexplain', 'zeros', 'zeros_mt')
UNION DISTINCT
SELECT lower(name) AS name
FROM system.functions
WHERE origin != 'System' OR startsWith(lower(name), 'ai') OR lower(name) IN (
    'catboostevaluate', 'file', 'generateserialid', 'hascolumnintable', 'reversednsquery')
