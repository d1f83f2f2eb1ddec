-- How many transactions and decisions on them there are in each bucket.
SELECT toInt64(BUCKET) AS bucket, toInt64(sum(m.transactions)) AS transactions, toInt64(sum(m.accepted + m.rejected + m.undecided)) AS decisions,
       toInt64(sum(m.accepted) - sum(m.private)) AS decided
FROM SOURCE AS m
WHERE bucket >= {from:Int64} AND bucket < {to:Int64}
GROUP BY bucket
