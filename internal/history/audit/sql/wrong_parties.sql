-- Where the witnesses of events of a node's own stream and party_offsets differ, up to an
-- offset, of one portion of all offsets.
SELECT node_offset, party_key, countIf(seen) AS witnessed, countIf(NOT seen) AS found
FROM
(
    SELECT DISTINCT node_offset, xxHash64(arrayJoin(witness_parties)) AS party_key, true AS seen
    FROM events
    WHERE stream = {stream:String} AND node_offset > 0 AND node_offset <= {through_offset:Int64}
      AND node_offset % {portions:Int64} = {portion:Int64}
    UNION ALL
    SELECT node_offset, party_key, false AS seen
    FROM party_offsets
    WHERE stream = {stream:String} AND node_offset <= {through_offset:Int64} AND node_offset % {portions:Int64} = {portion:Int64}
)
GROUP BY node_offset, party_key
HAVING witnessed != found
ORDER BY node_offset, party_key
LIMIT 1000
