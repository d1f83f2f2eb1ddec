-- How many rows of a stream contracts_archived has.
SELECT count() AS n FROM contracts_archived WHERE stream = {stream:String}
