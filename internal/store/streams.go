package store

import "github.com/ledgerlake/ledgerlake/schemas"

// StreamRow is how a stream stands according to the journal.
type StreamRow struct {
	Stream    string           `column:"stream,low"`
	Batches   int64            `column:"sequence"`
	Items     uint64           `column:"all_items"`
	Events    uint64           `column:"all_events"`
	Watermark schemas.Position `column:""`
	// WrittenAt is the server's clock at the last commit.
	WrittenAt schemas.Micros `column:"last_written"`
}

// LeaseRow is a row of table leases: a sign of life of a process that writes a stream. The server
// adds the time.
type LeaseRow struct {
	Stream string `column:"stream"`
	Writer string `column:"writer"`
	// Process names the process to people.
	Process string `column:"process"`
	// Term is the epoch of the claim by which the process took the stream.
	Term int64 `column:"term"`
	// Beat numbers the rows of one writer.
	Beat int64 `column:"beat"`
	// Released says that the process writes no more.
	Released bool `column:"released"`
}

// LeaseSign is the last row of a writer, and how old it is in milliseconds.
type LeaseSign struct {
	Stream   string `column:"stream"`
	Writer   string `column:"writer"`
	Process  string `column:"process"`
	Term     int64  `column:"term"`
	Beat     int64  `column:"beat"`
	Released bool   `column:"released"`
	Age      int64  `column:"age"`
}

// Backfilled is the milestone of a stream that has reached its upstream's end once.
const Backfilled = "backfilled"

// Stopped begins the milestone of a stream that must not go on; the reason follows.
const Stopped = "stopped: "

// SynchronizerRange is the span of record times of one synchronizer in a migration.
type SynchronizerRange struct {
	MigrationID    int64          `column:"migration_id"`
	SynchronizerID string         `column:"synchronizer_id,low"`
	Min            schemas.Micros `column:"first_time"`
	Max            schemas.Micros `column:"last_time"`
}

// ImportCount counts the import updates of a migration.
type ImportCount struct {
	MigrationID int64  `column:"migration_id"`
	Imports     uint64 `column:"imports"`
	LastID      string `column:"last_id"`
}

// Name is a result row of one name.
type Name struct {
	Name string `column:"name,low"`
}

// Count is a result row of one number.
type Count struct {
	N uint64 `column:"n"`
}

// Span is a result row of two numbers.
type Span struct {
	First int64 `column:"first"`
	Last  int64 `column:"last"`
}
