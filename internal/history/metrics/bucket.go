package metrics

import (
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// bucketOf are the starts of buckets in SQL: microseconds since 1970, or the number of a round.
var bucketOf = map[string]string{
	ByHour:  "toUnixTimestamp64Micro(m.hour)",
	ByDay:   "intDiv(toUnixTimestamp64Micro(m.hour), 86400000000) * 86400000000",
	ByWeek:  "intDiv(toUnixTimestamp64Micro(m.hour) - 345600000000, 604800000000) * 604800000000 + 345600000000", // on Mondays
	ByMonth: "toUnixTimestamp64Micro(toDateTime64(toStartOfMonth(m.hour), 6, 'UTC'))",
	ByRound: "m.round",
}

// usual is how many buckets are returned where the first is not named.
var usual = map[string]int64{ByHour: 48, ByDay: 31, ByWeek: 26, ByMonth: 24, ByRound: 100}

// begin is the start of the bucket that an instant is in or begins.
func begin(grain string, at int64) int64 {
	t := schemas.Micros(at).Time()
	switch grain {
	case ByHour:
		t = t.Truncate(time.Hour)
	case ByDay:
		t = t.Truncate(24 * time.Hour)
	case ByWeek:
		t = t.Truncate(7 * 24 * time.Hour) // of Go's year 1, which begins on a Monday
	case ByMonth:
		t = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	default:
		return at
	}
	return t.UnixMicro()
}

// step is the start of the bucket n buckets on.
func step(grain string, start, n int64) int64 {
	switch grain {
	case ByMonth:
		return schemas.Micros(start).Time().AddDate(0, int(n), 0).UnixMicro()
	case ByRound:
		return start + n
	}
	length := map[string]time.Duration{ByHour: time.Hour, ByDay: 24 * time.Hour, ByWeek: 7 * 24 * time.Hour}[grain]
	return start + n*length.Microseconds()
}
