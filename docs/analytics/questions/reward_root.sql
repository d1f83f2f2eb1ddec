-- Does the root of a round's rewards, as it was published, contain what an app may mint?
-- group: App operator
-- number: 29
-- party String: the app's provider
-- from Date = 1970-01-01: first day
-- to Date = 2100-01-01: day after the last one
-- example: party=app-provider-2::12201880c4a5704f53369cd2426f5d201c890fe3eebc8ccd1ba53262b9905a3e91db

-- Rewards by traffic only. Hashes are computed again from what was processed: path leads from the batch with the
-- allowance, whose hash is leaf, to the root; equal says that all of them are as published.
WITH batches AS (
    SELECT round, hash, tag, items,
        arrayMap(i -> arrayMap(text -> lower(hex(SHA256(text))),
            [JSONExtractString(i, 'provider'), replaceRegexpOne(replaceRegexpOne(JSONExtractString(i, 'amount'), '0+$', ''), '\\.$', '.0')]), items) AS fields,
        arrayMap(f -> lower(hex(SHA256(concat('2|', f[1], '|', f[2])))), fields) AS leaves,
        if(tag = 'BatchOfBatches', arrayMap(i -> JSONExtractString(i, 'value'), items), leaves) AS parts,
        lower(hex(SHA256(arrayStringConcat(arrayPushFront(parts, toString(length(parts))), '|')))) AS list,
        lower(hex(SHA256(concat(tag, '|1|', list)))) = hash AS computed
    FROM (
        SELECT contract_id, toInt64(argument.round.number::String) AS round, argument.batchHash.value::String AS hash
        FROM labelled_events
        WHERE stream = 'scan' AND kind = 'created' AND endsWith(template_id, ':Splice.Amulet.RewardAccountingV2:ProcessRewardsV2')
            AND record_time >= {from:Date} AND record_time < {to:Date}
    ) AS p
    INNER JOIN (
        SELECT contract_id, JSONExtractString(argument_text, 'batch', 'tag') AS tag, JSONExtractArrayRaw(argument_text, 'batch', 'value') AS items
        FROM labelled_events
        WHERE stream = 'scan' AND choice = 'ProcessRewardsV2_ProcessBatch' AND record_time >= {from:Date}
    ) AS b USING (contract_id)
)
SELECT round, amount, leaf, path, path[-1] AS root, root IN (
        SELECT argument.batchHash.value::String FROM labelled_events
        WHERE stream = 'scan' AND choice = 'AmuletRules_StartProcessingRewardsV2' AND record_time >= {from:Date}
    ) AND arrayAll(hash -> has(good, hash), path) AS equal
FROM (
    SELECT round, arrayFirstIndex(i -> JSONExtractString(i, 'provider') = {party:String}, items) AS at,
        JSONExtractString(items[at], 'amount') AS amount, leaves[at] AS leaf, tree.good AS good,
        arrayFold((way, step) -> if(has(tree.children, way[-1]), arrayPushBack(way, tree.parents[indexOf(tree.children, way[-1])]), way), range(10), [hash]) AS path
    FROM batches
    INNER JOIN (
        SELECT round, groupArrayArray(if(tag = 'BatchOfBatches', parts, [])) AS children,
            groupArrayArray(if(tag = 'BatchOfBatches', arrayMap(p -> hash, parts), [])) AS parents, groupArrayIf(hash, computed) AS good
        FROM batches
        GROUP BY round
    ) AS tree USING (round)
    WHERE tag = 'BatchOfMintingAllowances' AND arrayExists(i -> JSONExtractString(i, 'provider') = {party:String}, items)
)
ORDER BY round
