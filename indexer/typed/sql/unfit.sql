-- How many rows of a typed table have values that do not fit its columns.
SELECT count() AS n FROM {table:Identifier} WHERE _unfit != ''
