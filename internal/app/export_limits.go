package app

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ExportLimits limit what is exported by its record times. The zero value does not.
type ExportLimits struct {
	after, through schemas.Micros // exclusive, inclusive
	begins, ends   bool           // whether there is such a limit
}

// ParseLimits reads the first and the last day or hour, "" for no limit.
func ParseLimits(from, to string) (l ExportLimits, err error) {
	if from != "" {
		l.begins = true
		if l.after, _, err = schemas.SegmentBounds(from); err != nil {
			return l, fmt.Errorf("--from: %w", err)
		}
	}
	if to != "" {
		l.ends = true
		if _, l.through, err = schemas.SegmentBounds(to); err != nil {
			return l, fmt.Errorf("--to: %w", err)
		}
	}
	if l.begins && l.ends && l.after >= l.through {
		return l, fmt.Errorf("--from %s is after --to %s: nothing is between them", from, to)
	}
	return l, nil
}

// hold reports whether a stretch of record times, the start exclusive, lies within the
// limits as a whole.
func (l ExportLimits) hold(start, end schemas.Micros) bool {
	return (!l.begins || start >= l.after) && (!l.ends || end <= l.through)
}
