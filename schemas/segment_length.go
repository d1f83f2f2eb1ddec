package schemas

import (
	"fmt"
	"time"
)

// SegmentLength is how much time the segments of a bucket hold. It is written as in the
// configuration.
type SegmentLength string

const (
	// DaySegments are UTC days.
	DaySegments SegmentLength = "day"
	// HourSegments are hours of them.
	HourSegments SegmentLength = "hour"
)

// SegmentLengths are all that there are.
var SegmentLengths = [...]SegmentLength{DaySegments, HourSegments}

// Micros is the length. One that is none is a day.
func (l SegmentLength) Micros() Micros {
	if l == HourSegments {
		return 3600 * 1e6
	}
	return dayMicros
}

// layout is how a segment's time is written, without white space or anything that a key
// could not hold; texts sort by time.
func (l SegmentLength) layout() string {
	if l == HourSegments {
		return "2006-01-02T15"
	}
	return time.DateOnly
}

// End returns the last record time of the segment that t belongs to: t itself if it is a
// border.
func (l SegmentLength) End(t Micros) Micros {
	into := (t - 1) % l.Micros()
	if into < 0 {
		into += l.Micros()
	}
	return t - 1 - into + l.Micros()
}

// Of names the segment whose record times include t: a border belongs to the segment that
// it ends.
func (l SegmentLength) Of(stream string, migrationID int64, t Micros) SegmentRef {
	return SegmentRef{stream, migrationID, l.date(l.End(t) - l.Micros())}
}

// date writes the start of a segment as its Date.
func (l SegmentLength) date(start Micros) string { return start.Time().Format(l.layout()) }

// parse returns the start of the segment with a Date; ok is false for any other text.
func (l SegmentLength) parse(date string) (start Micros, ok bool) {
	at, err := time.Parse(l.layout(), date)
	if err != nil || at.Format(l.layout()) != date { // such as 2026-07-01T5
		return 0, false
	}
	return MicrosOf(at), true
}

// SegmentBounds returns the record times of the day or hour that a SegmentRef.Date names:
// start exclusive, end inclusive.
func SegmentBounds(date string) (start, end Micros, err error) {
	for _, l := range SegmentLengths {
		if start, ok := l.parse(date); ok {
			return start, start + l.Micros(), nil
		}
	}
	return 0, 0, fmt.Errorf("%q is neither a day such as 2026-07-01 nor an hour such as 2026-07-01T05", date)
}
