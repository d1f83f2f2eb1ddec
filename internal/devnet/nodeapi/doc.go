// Package nodeapi serves one participant's view of a simulated ledger, over HTTP and
// websockets, as that participant's node does.
//
// Streams cut narrower formats out of the frames that package history has written. The node
// also takes commands, and keeps users with their rights, what is known about parties, and
// completions. A right is checked before anything is read.
package nodeapi
