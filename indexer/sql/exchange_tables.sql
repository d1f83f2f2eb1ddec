-- Lets two tables take each other's name, at once for all who read them.
EXCHANGE TABLES {table:Identifier} AND {other:Identifier}
