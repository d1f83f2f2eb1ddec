// Package validator serves the validator interface: the wallet of the users of a node, the
// administration of them, external parties, and lookups of the network's state.
//
// What a wallet shows is read from the node's stream in the store, at or below its watermark.
// What it does are commands to the node; with Config.Forward they are requests to an existing
// validator, with the caller's token. Always true: nothing is read or sent before the caller
// and their rights are known, and only the user of a wallet sees its party's contracts, and, where
// an operation says so, the operator.
//
// api.go lists the groups of operations, each a small type with the readers that it needs.
// access.go guards them, accounts.go says who has a wallet, rights.go what users may do.
package validator
