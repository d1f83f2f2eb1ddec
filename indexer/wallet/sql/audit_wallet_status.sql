-- All steps of what wallets track up to an offset.
SELECT stream, party, kind, tracking_id, node_offset, step, sender, receiver, status, update_id, contract_id, failure, reason, effective_at
FROM wallet_status
WHERE stream = {stream:String} AND node_offset <= {at:Int64}
