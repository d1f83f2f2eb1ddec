-- Which published segments prove the supply at the end of a day?
-- group: Auditor
-- number: 22
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one

-- root is the Merkle root of all rows of a segment, link joins it to all segments before: docs/formats/proofs.md.
SELECT segment_date AS segment, migration_id, supply, total_rows AS rows, root, chain_link AS link
FROM (
    SELECT segment_date, migration_id, state, end_time, total_rows, root, chain_link
    FROM segments
    WHERE stream = 'scan' AND segment_date != '' AND toDate(left(segment_date, 10)) >= {from:Date} AND toDate(left(segment_date, 10)) < {to:Date}
    ORDER BY version DESC
    LIMIT 1 BY migration_id, segment_date
) AS s
LEFT JOIN (
    SELECT toDate(record_time - INTERVAL 1 MICROSECOND) AS day, sum(sum(amount)) OVER (ORDER BY day) AS supply
    FROM movements
    WHERE stream = 'scan'
    GROUP BY day
) AS m ON m.day = toDate(left(s.segment_date, 10))
WHERE state = 'published'
ORDER BY migration_id, segment_date
