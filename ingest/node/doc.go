// Package node pulls what a participant's parties see, its own ledger stream, from the
// ledger JSON API and passes it, in batches and strictly in the order of offsets, to a
// stream.Sink; then it follows the stream's tail.
//
// The way of one update:
//
//	client     one call of the node: token, limits, bounded bodies, errors by code
//	feed       frames of a stretch of offsets: the websocket, or windows of list calls
//	pipeline   frames are decoded in parallel, checked in order and cut into batches
//	Ingester   sessions of a feed: reconnects, chooses the source, resumes
//	snapshot   the active contracts that a stream of a pruned node begins with
//
// Positions are offsets (schemas.AtOffset). A stream is asked for in the shape
// TRANSACTION_SHAPE_LEDGER_EFFECTS, with reassignments and topology events; contract
// values come in compact_json and are handed on in canonical form.
package node
