// Package ledger serves the ledger query interface of a node from its stream in the store: updates
// and active contracts as lists, pages and websockets, with the node's errors and rights.
//
// Where things are:
//
//   - api.go lists the operations; catalogue.go the errors that they can have.
//   - updates.go and active.go turn a request into a cursor (cursor.go), which gives pages of
//     rendered elements; list.go, pages.go and socket.go send them. replay.go is the cursor that
//     reads ahead for websockets.
//   - ends.go follows the end of the stream, once for all callers that wait for it.
//   - Package view decides what a reader may see of an update.
//
// Nothing above the watermark of the stream is shown. Memory is bounded: a list by its limit, a
// websocket by a few pages of about pageBytes, however slowly the client reads.
package ledger
