-- The typed tables of a template and its choices.
SELECT DISTINCT table_name, choice
FROM projections
WHERE package_name IN {packages:Array(String)} AND entity IN {entities:Array(String)}
ORDER BY choice, table_name
LIMIT 500
