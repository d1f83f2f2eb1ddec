-- Reads all files of the parts of a table, indexes and projections included, and compares their
-- checksums: a row for each part.
CHECK TABLE {table:Identifier} SETTINGS check_query_single_value_result = 0
