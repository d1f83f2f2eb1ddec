// Package auth finds out who sends a request and what they may read.
//
// A token is a JWT, in the header Authorization or, for websockets, among the offered
// subprotocols. A Verifier checks its signature, its time and for whom it is meant, and
// looks its user up at a Users: a file, or the node whose history is served. What comes out
// is a Principal, which handlers ask before they read anything.
package auth
