-- The governance party: it alone signs the mining rounds, of which some are always active.
SELECT signatories[1] AS party
FROM contracts_live
WHERE stream = {stream:String} AND template = 'splice-amulet:Splice.Round:OpenMiningRound' AND length(signatories) = 1
LIMIT 1
