// Package iceberg describes published Parquet objects as Apache Iceberg tables, format
// version 2: one table per kind of row, over the objects as they are.
//
// A table is a folder of metadata in the bucket. Each commit is an object
// v<N>.metadata.json that exactly one writer can make, so that any number of workers may
// commit at once; the one with the greatest N counts, and version-hint.text says which it
// is to readers that cannot list. A snapshot names a manifest list, and that one manifest
// for each group of segments, a month, which names their objects.
//
// A commit is never told what to add. It makes the table equal to what a Catalog says is
// published, so that doing it twice is harmless and nothing has to be remembered between
// runs.
//
// What always holds: every snapshot that the latest metadata names can be read. A commit
// that takes a segment out drops all snapshots before it.
package iceberg
