// Package values shows contract values, as canonical JSON with labels, to people: records as lists of their
// fields, with parties and contracts that lead to their pages.
//
// What a ledger carries is text: nothing of a value becomes markup or an address.
package values
