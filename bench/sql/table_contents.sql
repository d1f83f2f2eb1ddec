-- A sum over hashes of the rows of each history table, without regard to their order.
-- The engine writes escapes in JSON strings differently from the network (U+2028 and
-- U+2029 as escapes, hex digits in upper case): these differences do not count.
SELECT 'updates' AS table, sumWithOverflow(cityHash64(*)) AS content FROM updates
UNION ALL
SELECT 'events', sumWithOverflow(cityHash64(* REPLACE (
    lower(replaceAll(replaceAll(body, '\\u2028', '\xE2\x80\xA8'), '\\u2029', '\xE2\x80\xA9')) AS body))) FROM events
UNION ALL
SELECT 'imports', sumWithOverflow(cityHash64(* REPLACE (
    lower(replaceAll(replaceAll(argument, '\\u2028', '\xE2\x80\xA8'), '\\u2029', '\xE2\x80\xA9')) AS argument))) FROM imports
UNION ALL
SELECT 'verdicts', sumWithOverflow(cityHash64(*)) FROM verdicts
UNION ALL
SELECT 'traffic', sumWithOverflow(cityHash64(*)) FROM traffic
UNION ALL
SELECT 'app_activity', sumWithOverflow(cityHash64(*)) FROM app_activity
