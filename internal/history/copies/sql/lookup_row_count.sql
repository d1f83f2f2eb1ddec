-- How many copies there are.
SELECT count() AS n FROM lookup_rows
