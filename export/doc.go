// Package export turns closed segments of history into Parquet objects in a bucket,
// publishes them, lists them and verifies them.
//
// A segment is a UTC day of one migration, or an hour of one, or the imports of a migration. It is due
// once nothing can be added to it any more. Its objects depend on nothing but its
// history: the same segment gives byte-identical objects on any machine, with any
// page size, number of workers or restarts, so that independent operators can compare
// digests. The manifest holds a digest of the logical rows besides, which does not
// depend on the Parquet writer either.
//
// Publishing goes objects, then manifest, then the row in table segments that makes
// all of it visible. A run that was cut off anywhere is finished by the next one:
// what is there already must be equal, and is never overwritten unless the segment
// was withdrawn first (see Withdraw).
package export
