-- Proposals of super-validators, each as it was after the last vote
-- table splice-dso-governance:Splice.DsoRules:VoteRequest
-- key proposal
-- column stream Stream that the row belongs to; scan is the public history
-- column proposal Contract by which the proposal began
-- column requester Super-validator that made it, by name
-- column action What it would do: the outer constructor
-- column reason Why
-- column url Address that the requester gave
-- column vote_before End of the voting
-- column accepted Super-validators that have accepted it
-- column rejected Super-validators that have rejected it
-- column voted_at Record time of the last vote, or of the beginning
-- column ended_at Record time at which it ended; 2299-12-31 if it has not
SELECT _stream AS stream, ifNull(trackingCid, _contract_id) AS proposal, argMax(requester, t.at) AS requester, argMax(action__tag, t.at) AS action, argMax(reason__body, t.at) AS reason,
       argMax(reason__url, t.at) AS url, argMax(voteBefore, t.at) AS vote_before,
       argMax(arrayFilter((sv, yes) -> yes, votes__value__sv, votes__value__accept), t.at) AS accepted,
       argMax(arrayFilter((sv, yes) -> NOT yes, votes__value__sv, votes__value__accept), t.at) AS rejected, max(_record_time) AS voted_at, argMax(_archived_at, t.at) AS ended_at
FROM (SELECT *, (_migration_id, _record_time, _update_id, _node) AS at FROM l_splice_dso_governance__splice_dsorules_voterequest) AS t
GROUP BY _stream, proposal
