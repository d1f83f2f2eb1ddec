// Package history writes executed updates as JSON into compressed files, and finds them again.
//
// A Renderer writes a batch as a scan has it and digests its rows, a NodeRenderer as a
// participant's own stream has it, with a record of where in a frame everything is. The Store
// appends the bytes in order and answers by position. What was published never changes, so
// readers hold the lock only for the index. The index takes about 50 bytes per update.
package history
