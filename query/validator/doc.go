// Package validator serves the validator interface: the wallet of the users of a node, the
// administration of them, external parties, and lookups of the network's state.
//
// What a wallet shows is read from the node's stream in the store, at or below its watermark.
// What it does are commands to the node; with Config.Forward they are requests to an existing
// validator, with the caller's token. Always true: nothing is read or sent before it is known
// who asks and that they may, and nothing of a party is shown to anybody but the user of its
// wallet and, where an operation says so, the operator.
package validator
