// Package devnet is a network to run against when there is none: a deterministic
// in-memory ledger that executes the choices of the coin model, and a server that
// hands out its history over HTTP the way a scan does, and what one participant sees
// of it the way that participant's node does.
//
// New executes Config.Updates updates and renders each of them once, in both value
// encodings, to compressed files; memory holds an index of about 50 bytes per update. Two
// ledgers of equal Config hold the same bytes. Advance executes further updates
// while the ledger is served.
//
// Submit executes commands of clients as updates of their own, by the rules in choice_*.go;
// AllocateParty adds parties, AdvanceTime and RunLive have time go on. These are written
// into a journal, as history depends on them besides the seed. What a submission does to
// contracts is done at once and taken back if it is refused (execution); what the executor
// keeps track of besides follows once it has succeeded (absorb). Parties that act by
// commands are left alone by the simulated users.
//
// With Config.Keep a ledger goes on where it was when New is called again with its folder,
// also after a kill: the journal then has all that happened, on disk before it is visible
// (kept.go).
//
// The parts, in the order in which an update passes through them:
//
//	executor   decides what happens next and executes it: contracts, coins, rounds
//	batch      a run of executed updates, as typed values
//	renderer   writes a batch as JSON and digests its rows; several run at once
//	store      appends the bytes to files, in order, and answers by position
//	server     HTTP, as a scan
//
// What a scan says about the present (rounds, rules, names, commands, rewards) the server
// evaluates plainly from the contracts that the executor has active; an instant of the
// past it finds by executing the ledger again up to there. Time is that of the ledger:
// "now" is the record time of the last entry. What no ledger knows (serials, addresses,
// serialized topology) is made up from the seed.
//
// With Config.Node these come in addition:
//
//	private      gives content to the transactions that public history only has verdicts
//	             on: wallet and app contracts without the governance party
//	witnesses    finds out which of the participant's parties see which events
//	nodeRenderer writes what they see as frames of the node's stream, with a record of
//	             where in a frame everything is
//	cutter       cuts narrower formats out of frames by their records
//	nodeServer   HTTP and websockets, as a node: it also takes commands, and keeps users
//	             with their rights, what is known about parties, and completions
//
// The package is an upstream and nothing else: only commands and tests import it.
package devnet
