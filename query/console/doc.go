// Package console serves ledgerlake to people: an explorer of the network's history, its metrics and
// files, the wallet, and the operations of this instance, as pages that are made on the server.
//
// Each part is a folder of its own with a Config of the readers that it needs; page has what they
// share. They read through the same readers and with the same rights as the interfaces do.
package console
