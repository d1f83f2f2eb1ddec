package schemas

import (
	"fmt"
	"time"
)

// Micros is an instant in UTC: microseconds since 1970-01-01T00:00:00Z, the
// resolution of the network's record times.
type Micros int64

// MinMicros is 0001-01-01T00:00:00Z, the record time that marks import updates:
// contracts carried over at the start of a migration, not real history.
const MinMicros Micros = -62135596800 * 1e6

// MaxMicros is 9999-12-31T23:59:59.999999Z, the latest instant with a four-digit year.
const MaxMicros Micros = 253402300799*1e6 + 999999

// MicrosOf truncates t to microseconds.
func MicrosOf(t time.Time) Micros { return Micros(t.UnixMicro()) }

// Time returns m as a time in UTC.
func (m Micros) Time() time.Time { return time.UnixMicro(int64(m)).UTC() }

// String formats m like a record time: always six fraction digits and Z.
func (m Micros) String() string { return string(AppendRecordTime(nil, m)) }

// DayStart returns 00:00:00 UTC of the day that contains m.
func (m Micros) DayStart() Micros {
	const day = 24 * 3600 * 1e6
	d := m % day
	if d < 0 {
		d += day
	}
	return m - d
}

// AppendRecordTime appends m as 2026-07-01T00:00:00.000000Z, the form in which
// record times are written: exactly six fraction digits.
func AppendRecordTime(dst []byte, m Micros) []byte {
	return m.Time().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
}

// AppendShortTime appends m in the shortest of the ISO forms with 0, 3 or 6
// fraction digits, which is how effective_at and created_at are written.
func AppendShortTime(dst []byte, m Micros) []byte {
	layout := "2006-01-02T15:04:05.000000Z"
	switch frac := ((int64(m) % 1e6) + 1e6) % 1e6; {
	case frac == 0:
		layout = "2006-01-02T15:04:05Z"
	case frac%1000 == 0:
		layout = "2006-01-02T15:04:05.000Z"
	}
	return m.Time().AppendFormat(dst, layout)
}

// AppendFewestDigits appends m with as many fraction digits as it needs, 0 to 6, which is how
// the network's bulk files write created_at: 2026-07-01T10:00:00.55Z.
func AppendFewestDigits(dst []byte, m Micros) []byte {
	return m.Time().AppendFormat(dst, "2006-01-02T15:04:05.999999Z")
}

// ParseTime reads an ISO-8601 instant with a zone designator and 0 to 9 fraction
// digits. Digits below microseconds are cut off. Years outside 0001..9999 and
// texts without a zone are errors.
func ParseTime(s string) (Micros, error) {
	if m, ok := ParseUTC(s); ok {
		return m, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not an ISO-8601 instant with a zone, such as 2026-07-01T00:00:00.000000Z", s)
	}
	m := Micros(t.Unix()*1e6 + int64(t.Nanosecond())/1000)
	if m < MinMicros || m > MaxMicros {
		return 0, fmt.Errorf("%q is outside the years 0001 to 9999", s)
	}
	return m, nil
}

// ParseUTC reads the common form YYYY-MM-DDTHH:MM:SS[.f{1,9}]Z without the cost
// of time.Parse; it reports false for anything else, valid or not.
func ParseUTC[T string | []byte](s T) (Micros, bool) {
	if len(s) < 20 || len(s) > 30 || s[4] != '-' || s[7] != '-' || s[10] != 'T' ||
		s[13] != ':' || s[16] != ':' || s[len(s)-1] != 'Z' {
		return 0, false
	}
	ok := true
	num := func(from, to int) int {
		n := 0
		for i := from; i < to; i++ {
			d := s[i] - '0'
			ok = ok && d <= 9
			n = n*10 + int(d)
		}
		return n
	}
	year, month, day := num(0, 4), num(5, 7), num(8, 10)
	hour, minute, second := num(11, 13), num(14, 16), num(17, 19)
	micros := 0
	if len(s) > 20 {
		if s[19] != '.' || len(s) == 21 {
			return 0, false
		}
		digits := min(len(s)-21, 6)
		micros = num(20, 20+digits)
		num(20+digits, len(s)-1)
		for ; digits < 6; digits++ {
			micros *= 10
		}
	}
	if !ok || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return Micros(daysSinceEpoch(year, month, day)*86400e6 +
		int64(hour)*3600e6 + int64(minute)*60e6 + int64(second)*1e6 + int64(micros)), true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSinceEpoch counts days of the proleptic Gregorian calendar in eras of 400
// years, with March as the first month so that the leap day comes last.
func daysSinceEpoch(year, month, day int) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}
