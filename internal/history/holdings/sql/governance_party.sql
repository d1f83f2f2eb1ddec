-- The governance party: it alone signs the mining rounds, with which history begins.
SELECT name FROM
(
    SELECT signatories[1] AS name
    FROM events
    WHERE stream = {stream:String} AND kind = 'created' AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Round:OpenMiningRound') AND length(signatories) = 1
    ORDER BY stream, migration_id, record_time, update_id, node
    LIMIT 1
    UNION ALL
    SELECT signatories[1] AS name
    FROM imports
    WHERE stream = {stream:String} AND package_name = 'splice-amulet' AND endsWith(template_id, ':Splice.Round:OpenMiningRound') AND length(signatories) = 1
    LIMIT 1
)
