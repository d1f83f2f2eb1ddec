// Package ledger is the ledger query interface of a node, served from the stream that is
// kept of it: updates and active contracts as lists, pages and websockets, with the node's own
// errors and rights.
//
// Where things are:
//
//   - api.go lists the operations; catalogue.go the errors that they can have.
//   - updates.go and active.go turn a request into a cursor, which gives pages of rendered
//     elements; list.go, socket.go and page_token.go are the three ways to hand them out.
//   - ends.go follows the end of the stream, once for all who wait for it.
//   - What a reader may see of an update is package view's.
//
// Nothing above the watermark of the stream is shown. Memory is bounded: a list by its limit, a
// websocket by a few pages of about pageBytes, whoever reads how slowly.
package ledger
