-- How many rows of a stream contracts_live has.
SELECT count() AS n FROM contracts_live WHERE stream = {stream:String}
