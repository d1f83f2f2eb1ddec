-- How much of the supply circulates, without the parties of a list?
-- group: Analyst
-- number: 15
-- excluded String: parties that are left out, separated by commas
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: excluded=user-1::12207e6c6736bb02ca6f6b53df12f7ac7279b6163d6c66cea9ad75dae0c103325e84,DSO::12206b975dd2f34d5e7d8d389b900db0afd8deb6d2ee121d732a77ef4285a68f7e2a

-- The version is of the list: the same parties have the same.
SELECT day, total, left_out AS excluded, total - left_out AS circulating,
    lower(hex(sipHash64(arrayStringConcat(arraySort(splitByChar(',', {excluded:String})), ',')))) AS list_version
FROM (
    SELECT toDate(record_time) AS day, sum(sum(amount)) OVER (ORDER BY day) AS total,
        sum(sumIf(amount, has(splitByChar(',', {excluded:String}), party))) OVER (ORDER BY day) AS left_out
    FROM movements
    WHERE stream = 'scan'
    GROUP BY day
)
WHERE day >= {from:Date} AND day < {to:Date}
ORDER BY day
