// Package scanapi serves a simulated ledger over HTTP as a scan does.
//
// Pages of history are pieces of the ledger's files. What a scan says about the present
// (rounds, rules, names, commands, rewards) is evaluated from the active contracts for each
// request. What no ledger knows (serials, addresses, topology) follows from the seed.
package scanapi
