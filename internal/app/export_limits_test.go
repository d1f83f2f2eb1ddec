package app

import (
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestExportLimits(t *testing.T) {
	tests := []struct {
		from, to string
		date     string // of a segment
		want     bool
	}{
		{"", "", "2026-07-01", true},
		{"2026-07-01", "", "2026-07-01", true},
		{"2026-07-02", "", "2026-07-01", false},
		{"", "2026-07-01", "2026-07-01", true},
		{"", "2026-07-01", "2026-07-02", false},
		{"2026-07-01", "2026-07-03", "2026-07-03T00", true},
		{"2026-07-01", "2026-07-03", "2026-07-03T23", true},
		{"2026-07-01", "2026-07-03", "2026-07-04T00", false},
		{"2026-07-01", "2026-07-03", "2026-06-30T23", false},
		{"2026-07-01T05", "2026-07-01T06", "2026-07-01T05", true},
		{"2026-07-01T05", "2026-07-01T06", "2026-07-01T06", true},
		{"2026-07-01T05", "2026-07-01T06", "2026-07-01T04", false},
		{"2026-07-01T05", "2026-07-01T06", "2026-07-01T07", false},
		{"2026-07-01T05", "", "2026-07-01", false}, // not as a whole
		{"2026-07-01T00", "2026-07-01T23", "2026-07-01", true},
	}
	for _, tt := range tests {
		limits, err := ParseLimits(tt.from, tt.to)
		if err != nil {
			t.Fatal(err)
		}
		start, end, err := schemas.SegmentBounds(tt.date)
		if err != nil {
			t.Fatal(err)
		}
		if got := (ExportJobs{limits: limits}).wants(start, end); got != tt.want {
			t.Errorf("from %q to %q: %s is wanted: %v, want %v", tt.from, tt.to, tt.date, got, tt.want)
		}
	}
	for _, bad := range [][2]string{{"July", ""}, {"", "2026-07-01T24"}, {"2026-07-01T5", ""}} {
		if _, err := ParseLimits(bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), bad[0]+bad[1]) {
			t.Errorf("limits %q: %v", bad, err)
		}
	}
}

func TestOldSegmentsAreNotWanted(t *testing.T) {
	j := ExportJobs{retention: 48 * time.Hour}
	now := schemas.MicrosOf(time.Now())
	const hour = 3600 * 1e6
	for age, want := range map[schemas.Micros]bool{1: true, 47: true, 49: false, 500: false} {
		if got := j.wants(now-(age+1)*hour, now-age*hour); got != want {
			t.Errorf("what ended %d hours ago is wanted: %v, want %v", age, got, want)
		}
	}
}
