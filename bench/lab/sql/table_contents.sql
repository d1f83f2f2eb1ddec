-- A sum over hashes of the rows of each history table, without regard to their order,
-- with texts as they read and not as they are stored. The engine writes escapes in JSON
-- strings differently from the network (U+2028 and U+2029 as escapes, hex digits in upper
-- case): these differences do not count.
SELECT 'updates' AS table, sumWithOverflow(cityHash64(*)) AS content FROM updates
UNION ALL
SELECT 'events', sumWithOverflow(cityHash64(* EXCEPT (body_shape, body_scalars, body_ids, body_parties),
    lower(replaceAll(replaceAll(body, '\\u2028', '\xE2\x80\xA8'), '\\u2029', '\xE2\x80\xA9')))) FROM events
UNION ALL
SELECT 'imports', sumWithOverflow(cityHash64(* EXCEPT (argument_shape, argument_scalars, argument_ids, argument_parties),
    lower(replaceAll(replaceAll(argument, '\\u2028', '\xE2\x80\xA8'), '\\u2029', '\xE2\x80\xA9')))) FROM imports
UNION ALL
SELECT 'verdicts', sumWithOverflow(cityHash64(* EXCEPT (views_shape, views_scalars, views_ids, views_parties), views)) FROM verdicts
