package damage

import (
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Finding is one thing that is wrong with a table.
type Finding struct {
	Table string
	// Server is the address of the one that has the part, "" without a cluster.
	Server string
	// Part is one that the table does not read, and Reason why, as the engine says; empty where
	// rows are missing without a trace.
	Part, Reason string
	// Stream has Found rows where it should have Expected, between After, exclusive, and Through.
	Stream          string
	Expected, Found int64
	After, Through  schemas.Position
	// Other says what is wrong where it is neither of these.
	Other string
}

// String is a sentence without its full stop.
func (f *Finding) String() string {
	switch {
	case f.Other != "":
		return fmt.Sprintf("table %s: %s", f.Table, f.Other)
	case f.Part != "" && f.Reason == "":
		return fmt.Sprintf("table %s: part %s was detached%s", f.Table, f.Part, on(f.Server))
	case f.Part != "":
		return fmt.Sprintf("table %s: part %s is set aside%s (%s)", f.Table, f.Part, on(f.Server), f.Reason)
	case f.Found > f.Expected:
		return fmt.Sprintf("table %s: stream %s has %d rows too many, %d instead of %d, after %s through %s",
			f.Table, f.Stream, f.Found-f.Expected, f.Found, f.Expected, f.After, f.Through)
	}
	return fmt.Sprintf("table %s: stream %s lacks %d of %d rows after %s through %s",
		f.Table, f.Stream, f.Expected-f.Found, f.Expected, f.After, f.Through)
}

// on names a server of a cluster in a sentence.
func on(server string) string {
	if server == "" {
		return ""
	}
	return " on " + server
}

// Error is schemas.ErrDamaged with what is wrong.
type Error struct{ Findings []Finding }

// fix is what everybody who meets damage is told.
const fix = `stop everything that runs on it and put the part back, or run ledgerlake repair: see "A damaged store" in docs/operations.md`

// Error is one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(schemas.ErrDamaged.Error())
	for i := range e.Findings {
		b.WriteString([2]string{": ", "; "}[min(i, 1)] + e.Findings[i].String())
	}
	return b.String() + ": " + fix
}

// Unwrap makes it schemas.ErrDamaged.
func (*Error) Unwrap() error { return schemas.ErrDamaged }
