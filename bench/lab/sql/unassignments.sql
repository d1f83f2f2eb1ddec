-- Updates that send a contract off.
SELECT count() AS n FROM updates WHERE kind = 'unassignment'
