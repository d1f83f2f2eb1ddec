package schemas

import (
	"cmp"
	"fmt"
	"strings"
)

// Position orders history: by migration, then record time, then update id. Import
// updates have MinMicros as record time and so precede the history of their
// migration. The zero Position precedes everything but is not "nothing": compare
// with Before, and use Start for the beginning of history.
//
// On a node's own stream the offset comes first and, as record times of several
// synchronizers do not follow one another there, is all that history is ordered by:
// see AtOffset. Only the contracts that a stream began with share an offset.
type Position struct {
	MigrationID int64
	RecordTime  Micros
	UpdateID    string
	// Offset is 0 in public history.
	Offset int64
}

// Start is the position before all history.
var Start = Position{MigrationID: -1, RecordTime: MinMicros}

// Compare returns -1, 0 or 1 as p stands before, at or after q.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.MigrationID, q.MigrationID),
		cmp.Compare(p.RecordTime, q.RecordTime), strings.Compare(p.UpdateID, q.UpdateID))
}

// Before reports whether p stands before q.
func (p Position) Before(q Position) bool { return p.Compare(q) < 0 }

// String writes the position for logs and errors: migration 1 at 2026-07-01T00:00:00.000000Z.
func (p Position) String() string {
	switch {
	case p == Start:
		return "the start of history"
	case p.Offset > 0 && p.UpdateID != "":
		return fmt.Sprintf("contract %s active at offset %d", short(p.UpdateID), p.Offset)
	case p.Offset > 0:
		return fmt.Sprintf("offset %d", p.Offset)
	case p.RecordTime == MinMicros && p.UpdateID == "":
		return fmt.Sprintf("the start of migration %d", p.MigrationID)
	case p.RecordTime == MinMicros:
		return fmt.Sprintf("import %s of migration %d", short(p.UpdateID), p.MigrationID)
	}
	return fmt.Sprintf("migration %d at %s", p.MigrationID, p.RecordTime)
}

func short(id string) string {
	if len(id) <= 24 {
		return id
	}
	return id[:20] + "…"
}

// MaxUpdateID sorts after every update id, so that {m, t, MaxUpdateID} is the end of
// everything at time t.
const MaxUpdateID = "\U0010ffff"

// EndOf returns the position after everything at record time t of a migration.
func EndOf(migrationID int64, t Micros) Position {
	return Position{MigrationID: migrationID, RecordTime: t, UpdateID: MaxUpdateID}
}
