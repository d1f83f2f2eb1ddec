// Package query is ledgerlake's HTTP tier: one fasthttp server that carries the
// operations of the interfaces (scan and others, one sub-package each) with common
// limits, error answers, request ids, metrics and shutdown.
//
// An interface hands over a table of Routes; New mounts them. A Handler reads its
// input through Request (both spellings of aliased parameters are accepted there),
// and answers with Produce, JSON, Send or Empty, or returns an error, which Status
// maps to an HTTP status in one place.
//
// The order of the wrappers around a handler, from the outside in, is in
// Server.route: request id, log and metrics, deadline, panics, rate limit, admission by the
// route's class of cost.
package query
