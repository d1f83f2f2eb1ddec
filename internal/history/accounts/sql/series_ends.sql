-- The first and the last hour in which what a party holds of an instrument changes.
SELECT minIf(hour, hour > '1900-01-02') AS first, max(hour) AS last, toInt64(count()) AS hours
FROM balance_hours
WHERE stream = {stream:String} AND party = {party:String} AND instrument = {instrument:String}
