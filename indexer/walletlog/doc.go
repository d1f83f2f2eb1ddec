// Package walletlog finds out what an update of a node's own stream means for the wallets of
// the parties that see it: the entries of their transaction logs, and what became of transfer
// offers and traffic requests.
//
// It is a function of the update, as each party sees it, and of the payloads of some contracts
// that the update exercises choices on. Always true: an update that a party's wallet cannot
// make sense of has exactly one entry there, of kind unknown; the amounts of all other entries
// add up to what the update did to the unlocked coins of the party, save coins that expire
// and, in history that has fees, the fee on what a party pays itself.
//
// Start at Parser.Update; the choices that have a meaning are in rules.go.
package walletlog
