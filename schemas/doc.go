// Package schemas is the vocabulary that every part of ledgerlake shares: updates
// and their events, verdicts and the side data of an event, the order of history,
// batches, digests, the store's table definitions, object keys and the errors that
// cross package borders. It imports no other package of this module except its own
// sub-packages (jsonscan, values), so that arrows only ever point down to it.
//
// The shapes follow the network's scan interface: an Update is what
// /v2/updates hands out, an Item is one element of /v0/events.
package schemas
