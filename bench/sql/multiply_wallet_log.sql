-- Gives many parties so many entries of a transaction log each: those of the history under other
-- ids, again and again.
INSERT INTO wallet_log
SELECT * EXCEPT (copy, n) REPLACE (concat('holder-', toString(copy), '::1220', lower(hex(SHA256(toString(copy))))) AS party,
       toInt64(n) AS node_offset, concat('1220', lower(hex(SHA256(concat(toString(copy), ' ', toString(n))))), ':0') AS event_id)
FROM
(
    SELECT *, arrayJoin(range(%[1]d, %[2]d)) AS copy, row_number() OVER (PARTITION BY copy) AS n
    FROM (SELECT * EXCEPT again FROM (SELECT *, arrayJoin(range(%[3]d)) AS again FROM (SELECT * FROM wallet_log WHERE kind = 'transfer' LIMIT 200)) LIMIT %[3]d)
)
