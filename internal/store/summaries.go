package store

import "github.com/ledgerlake/ledgerlake/schemas"

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
