// Package prepared writes and reads the transactions that external parties sign: protobuf
// messages com.daml.ledger.api.v2.interactive.PreparedTransaction, with the hashes of the
// network's public schemes V2 and V3. Of the message it knows
//
//	PreparedTransaction  transaction 1, metadata 2
//	DamlTransaction      version 1, roots 2, nodes 3, node_seeds 4
//	Node                 node_id 1, v1 1000 (create 1 | exercise 3)
//	NodeSeed             node_id 1, seed 2
//	Create               lf_version 1, contract_id 2, package_name 3, template_id 4, argument 5,
//	                     signatories 6, stakeholders 7
//	Exercise             the same but for argument; acting_parties 7, interface_id 8, choice_id 9,
//	                     chosen_value 10, consuming 11, children 12, exercise_result 13,
//	                     choice_observers 14, where signatories is 5 and stakeholders 6
//	Metadata             submitter_info 2 (act_as 1, command_id 2), synchronizer_id 3,
//	                     mediator_group 4, transaction_uuid 5, preparation_time 6,
//	                     input_contracts 7, min_ledger_effective_time 9,
//	                     max_ledger_effective_time 10, max_record_time 11
//	InputContract        v1 1 (a Create), created_at 1000, event_blob 1002
//
// and the messages of values. Times are µs since 1970.
package prepared
