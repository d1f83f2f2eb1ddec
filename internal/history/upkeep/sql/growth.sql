-- How much was written in the last days, and in all: items and events of all streams. Commits are never rewritten.
SELECT toInt64(sumIf(items + events, written_at > now64(6) - toIntervalDay({days:UInt16}))) AS recent, toInt64(sum(items + events)) AS everything,
       toFloat64(least({days:UInt16}, dateDiff('second', min(written_at), now64(6)) / 86400)) AS days
FROM batches
WHERE state = 'commit'
