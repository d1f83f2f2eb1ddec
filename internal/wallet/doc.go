// Package wallet has the actions of a wallet: which commands of the ledger make up an
// offer, a payment, a purchase of traffic or the onboarding of a user, with which
// contracts, and what its outcome means. The validator interface and the automations act
// through it.
//
// It reads contracts from the store, which follows the stream of the node, and public contracts
// of the network (rules, rounds, preapprovals) from a source that the caller provides. It writes
// through the command interface of the node, which executes a command once or reports that it did
// not. Two actions with one tracking or deduplication id never both happen: see tracker.
package wallet
