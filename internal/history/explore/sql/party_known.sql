-- How many updates have an event of a party, 0 or 1.
SELECT count() AS n
FROM
(
    SELECT place_key
    FROM places
    PREWHERE place_key = {key:UInt64}
    WHERE node_offset = 0
    LIMIT 1
)
