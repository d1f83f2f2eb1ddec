// Package devnet is a network to run against when there is none: a deterministic
// in-memory ledger that executes the choices of the coin model, and a server that
// hands out its history over HTTP the way a scan does.
//
// New executes Config.Updates updates and renders each of them once, in both value
// encodings, to files; memory holds an index of about 50 bytes per update. Two
// ledgers of equal Config hold the same bytes. Advance executes further updates
// while the ledger is served.
//
// The parts, in the order in which an update passes through them:
//
//	executor   decides what happens next and executes it: contracts, coins, rounds
//	batch      a run of executed updates, as typed values
//	renderer   writes a batch as JSON and digests its rows; several run at once
//	store      appends the bytes to files, in order, and answers by position
//	server     HTTP
//
// The package is an upstream and nothing else: only commands and tests import it.
package devnet
