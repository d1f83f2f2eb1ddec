-- How many lifetimes of a stream one of their tables has.
SELECT count() AS n FROM {table:Identifier} WHERE stream = {stream:String}
