// Package devnet is a network to run against when there is none: a deterministic in-memory
// ledger that executes the choices of the coin model, served over HTTP as a scan, and as one
// participant's node.
//
// Two ledgers of equal Config hold the same bytes. Parties that act by commands are left alone
// by the simulated users.
//
// The packages, in the order in which an update passes through them; each imports only those
// above it:
//
//	ledger/model    values, ids, templates, payloads of contracts
//	ledger/sim      decides what happens next and executes it: coins, rounds, names
//	ledger/choices  executes the commands of clients
//	prepared        writes and reads the transactions that external parties sign
//	ledger/history  writes batches of updates as JSON, and finds them by position
//	ledger          runs these, keeps the journal, and executes the past again
//	scanapi         HTTP, as a scan
//	nodeapi         HTTP and websockets, as a node; it also takes commands
//
// With Config.Node, transactions of which public history only has the verdicts get content as
// well: wallet and app contracts without the governance party.
//
// The package is an upstream and nothing else: only commands and tests import it.
package devnet
