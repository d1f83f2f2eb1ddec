// Package scan pulls the whole public history of a network from an upstream scan
// over HTTP and hands it, in batches and strictly in order, to a Sink; then it
// follows the upstream's tail.
//
// The way of one update:
//
//	Client    one operation of the upstream: retries, limits, bounded bodies
//	track     pages of one stretch of history: import updates of a migration, or
//	          its history from /v0/events, /v2/updates or updates-before
//	leg       fetches slices of a track in parallel, delivers them in order
//	batcher   cuts the items into batches, a writer hands them to the Sink
//	Ingester  walks the legs: for each migration its imports, then its history
//
// Values are always asked for and handed on in protobuf_json, the lossless encoding.
package scan
