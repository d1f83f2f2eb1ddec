-- How many rows a typed table has.
SELECT count() AS n FROM {table:Identifier}
