package query

import "context"

// Handler answers one request. It either writes an answer through r and returns nil,
// or returns an error, which becomes the error answer. ctx ends with the deadline of
// the request.
type Handler func(ctx context.Context, r *Request) error

// Route is one operation of an interface.
type Route struct {
	// Method is GET, POST or DELETE. A GET route answers HEAD as well.
	Method string
	// Path is absolute, with {name} for a segment and {name:*} for the rest.
	Path string
	// Name identifies the operation in logs and metrics, such as "scan.updates".
	Name   string
	Handle Handler
	// Class says how much the operation takes; Light, the default, for a query or two. Operations
	// of the other classes call Request.Reserve.
	Class Class
	// Probe marks operations that must answer under overload too: they are subject
	// to neither the rate limits nor the concurrency limit.
	Probe bool
	// Transfer marks operations that stream a stored object: their context has no
	// deadline and lives until the transfer is over.
	Transfer bool
}

// Mount puts routes below each of the prefixes; "" is the root.
type Mount struct {
	Prefixes []string
	Routes   []Route
	// Errors makes the error answers of the routes; default {"error": text}.
	Errors ErrorForm
}
