// Package network publishes history in the network's own layout: folders of a day over all
// migrations, with JSON lines in zstd frames, and an active set for the start of each.
//
// Equal history gives equal lines in equal order. A folder is listed once all of its objects
// are there, in all encodings.
package network
