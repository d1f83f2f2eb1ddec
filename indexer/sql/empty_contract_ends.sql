TRUNCATE TABLE {table:Identifier}
