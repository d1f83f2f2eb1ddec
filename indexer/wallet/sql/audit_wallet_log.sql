-- All entries of transaction logs up to an offset.
SELECT stream, party, node_offset, entry, event_id, kind, template_id, choice, amulet_operation, interface_id, effective_at,
       sender, sender_amount, receivers, receiver_amounts, holding_fees, app_rewards, validator_rewards, sv_rewards,
       development_fund, instruction_receiver, instruction_amount, instruction_id, description, details
FROM wallet_log
WHERE stream = {stream:String} AND node_offset <= {at:Int64}
