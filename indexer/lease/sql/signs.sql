-- The last sign of life of each process that has written a stream, or any stream if none is named,
-- the latest term of a stream first. age is in milliseconds, by the clock of the server alone.
SELECT stream, writer, argMax(leases.process, leases.beat) AS process, argMax(leases.term, leases.beat) AS term,
       max(leases.beat) AS beat, argMax(leases.released, leases.beat) AS released,
       dateDiff('millisecond', max(at), now64(3, 'UTC')) AS age
FROM leases
WHERE {stream:String} = '' OR stream = {stream:String}
GROUP BY stream, writer
ORDER BY stream, term DESC
