// Package memo remembers what was read, up to a bound, and lets callers share a read:
//
//   - LRU keeps values up to a total weight, such as bytes; Recent keeps them for a short time.
//   - Value loads one value for all callers that find it stale; Values does so by key.
//   - Batcher joins lookups that arrive together into one query.
//   - Read is a read in the background, such as one ahead of a client.
//
// Everything is safe for concurrent use and bounded in memory. A panic of a read is the error of
// those who wait for it.
package memo
