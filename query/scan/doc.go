// Package scan serves the scan interface: the network's public history, active
// contract sets, backfilling and bulk objects, read from the store at or below the
// watermark.
//
// api.go lists the operations. Each group of them is a small type with the readers that it needs.
//
// Decisions where the interface leaves room:
//
//   - Pages of updates and events are refused with 503 until the stream's backfill has
//     reached its end once. Lookups by id and the backfilling calls are not.
//   - Events of the newest migration are given up to the earlier of its last verdict
//     and its last update; where the store holds no verdicts at all, because the
//     upstream serves none, up to the watermark.
//   - Any instant up to the contracts' watermark has an active set. Member "at" asks
//     for one; "record_time" keeps to the network's three-hourly snapshots.
//   - Page tokens carry their position, the snapshot and a keyed hash over both and
//     the request, so they outlive restarts and cannot be forged or moved between
//     requests.
//   - Where tokens are integers they are places in the set, see acs_token.go.
//   - Answers that never change are tagged, and lookups among them kept in memory.
//   - Bulk objects are listed by format; see Bulk.
//   - The network's present state, and what history does not have, are served by package state. They
//     too are refused until the backfill is complete.
package scan
