package schemas

import (
	"slices"
	"testing"
)

func TestHourSegment(t *testing.T) {
	tests := []struct{ name, at, want, next string }{
		{"within an hour", "2026-07-01T12:30:00Z", "2026-07-01T12", "2026-07-01T13"},
		{"the end of an hour", "2026-07-01T12:00:00Z", "2026-07-01T11", "2026-07-01T12"},
		{"the first instant of an hour", "2026-07-01T12:00:00.000001Z", "2026-07-01T12", "2026-07-01T13"},
		{"midnight ends the day before", "2026-07-02T00:00:00Z", "2026-07-01T23", "2026-07-02T00"},
		{"the first instant of a day", "2026-07-02T00:00:00.000001Z", "2026-07-02T00", "2026-07-02T01"},
		{"before 1970", "1969-12-31T23:59:59Z", "1969-12-31T23", "1970-01-01T00"},
		{"the end of a year", "2027-01-01T00:00:00Z", "2026-12-31T23", "2027-01-01T00"},
	}
	for _, tt := range tests {
		at, err := ParseTime(tt.at)
		if err != nil {
			t.Fatal(err)
		}
		ref := HourSegments.Of(ScanStream, 1, at)
		start, end, err := ref.Bounds()
		if err != nil || ref.Date != tt.want || at <= start || at > end || end-start != 3600*1e6 || HourSegments.End(at) != end {
			t.Errorf("%s: %s is in %s (%s, %s], %v; want %s", tt.name, tt.at, ref, start, end, err, tt.want)
		}
		next := ref.Next()
		if from, _, err := next.Bounds(); err != nil || next.Date != tt.next || from != end || ref.Compare(next) >= 0 {
			t.Errorf("%s: %s is followed by %s, %v; want %s", tt.name, ref, next, err, tt.next)
		}
		if day := DaySegments.Of(ScanStream, 1, at); day.Date != tt.want[:10] {
			t.Errorf("%s: %s is on %s", tt.name, tt.at, day)
		}
	}
}

func TestSegmentLengthOf(t *testing.T) {
	for date, want := range map[string]SegmentLength{
		"2026-07-01": DaySegments, "2026-07-01T00": HourSegments, "": "", "today": "", "2026-07-01T": "", "2026-02-30": "",
	} {
		if got := (SegmentRef{ScanStream, 1, date}).Length(); got != want {
			t.Errorf("length of %q is %q, want %q", date, got, want)
		}
	}
}

// TestSegmentsSortByTime: the dates of a day's hours stand behind that of the day before and
// before that of the day after, as texts.
func TestSegmentsSortByTime(t *testing.T) {
	var dates []string
	ref := HourSegments.Of(ScanStream, 1, 1)
	for range 60 {
		dates = append(dates, ref.Date)
		ref = ref.Next()
	}
	if !slices.IsSorted(dates) || dates[0] != "1970-01-01T00" || dates[59] != "1970-01-03T11" {
		t.Errorf("the hours are %q", dates)
	}
}
