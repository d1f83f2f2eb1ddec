// Package faults disturbs what the product talks to, so that tests can say what it
// survives. Everything follows from a seed: the same seed plans the same faults.
//
// Three proxies stand between the product and a real service:
//
//	TCP   before ClickHouse, Redis or an S3 store: breaks, delays and cuts connections
//	HTTP  before a scan service, or a node's ledger API: the same per request, wrong
//	      statuses and damaged bodies, faults per frame of a websocket, Lies, which
//	      are well-formed answers that are not true, and Odds, which are odd answers to
//	      everything for a while
//	Flaky before an S3 store: refuses, loses and cuts by chance, at given rates
//
// A Plan holds the faults of one run, by the number of the turn or request at which
// they happen, and prints them; a Tally counts those that did happen. Counting is what
// makes a run worth something: one in which no fault fired proves nothing.
//
// The package knows the network's wire format and nothing of the product. Only tests and
// benchmarks import it.
package faults
