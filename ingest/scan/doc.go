// Package scan pulls the whole public history of a network from one or several scans
// over HTTP and passes it, in batches and strictly in order, to a stream.Sink; then it
// follows the tail.
//
// The way of one update:
//
//	Client         one operation of one upstream: retries, limits, bounded bodies
//	track          pages of one stretch of history: import updates of a migration, or
//	               its history from /v0/events, /v2/updates or updates-before
//	anchoredTrack  what follows the stream's end must come together with that end
//	sharedTrack    asks whichever upstream should answer first, another if that fails
//	agreeTrack     passes on only what Config.Agree upstreams returned alike
//	leg            fetches slices of a track in parallel, delivers them in order
//	batcher        cuts the items into batches, stream.Writer passes them to the Sink
//	Ingester       walks the legs: for each migration its imports, then its history
//
// peers keeps what is known of the upstreams: which answer, how fast, and how far the
// history of each goes. An upstream that has less than is needed is not asked. view is the
// overview of migrations that the Ingester goes by, tracks makes the tracks, tail keeps the
// end of the stream and prober finds out which operations the upstreams have.
//
// Values are always asked for and handed on in protobuf_json, the lossless encoding.
//
// # What is noticed
//
// Of a single upstream: pages out of order, with duplicates, outside what was asked for,
// in another encoding, that end before the overview says or that JSON readers could
// disagree on; other content of a batch that was announced; and at each question for new
// history, that the last update which the stream holds is still there as it was. An
// update that was left out from the beginning leaves no trace: that takes a second
// upstream, with Config.Agree or by comparing digests.
package scan
