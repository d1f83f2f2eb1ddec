-- Entries of the transaction log of a party before a place, newest first.
SELECT stream, party, node_offset, entry, event_id, kind, template_id, choice, amulet_operation, interface_id, effective_at,
       sender, sender_amount, receivers, receiver_amounts, holding_fees, app_rewards, validator_rewards, sv_rewards,
       development_fund, instruction_receiver, instruction_amount, instruction_id, description, details
FROM wallet_log
WHERE stream = {stream:String} AND party = {party:String}
  AND node_offset <= {offset:Int64} AND (node_offset, entry) < ({offset:Int64}, {entry:Int32})
ORDER BY node_offset DESC, entry DESC
LIMIT {limit:UInt32}
SETTINGS max_threads = 1, local_filesystem_read_method = 'pread', enable_analyzer = 0
