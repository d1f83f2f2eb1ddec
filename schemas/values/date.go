package values

import (
	"fmt"
	"strconv"
)

// The range of the network's dates, 0001-01-01 to 9999-12-31, in days since 1970.
const (
	minDay = -719162
	maxDay = 2932896
)

// appendDate appends the date that text, the decimal number of days since 1970, stands
// for: 19986 -> 2024-09-20.
func appendDate(dst, text []byte) ([]byte, error) {
	day, ok := parseInt64(text)
	if !ok || day < minDay || day > maxDay {
		return dst, fmt.Errorf("%w: date %.40q", ErrInvalid, text)
	}
	return appendDay(dst, day), nil
}

// appendDays is the inverse of appendDate.
func appendDays(dst, text []byte) ([]byte, error) {
	day, ok := parseDay(text)
	if !ok {
		return dst, fmt.Errorf("%w: date %.40q", ErrInvalid, text)
	}
	return strconv.AppendInt(dst, day, 10), nil
}

// appendDay appends year-month-day of a day since 1970. It counts in eras of 400 years
// that begin on 1 March, so that the leap day comes last (Hinnant, "chrono-compatible
// low-level date algorithms").
func appendDay(dst []byte, day int64) []byte {
	day += 719468 // days from 0000-03-01 to 1970-01-01
	era := day / 146097
	if day < 0 {
		era = (day - 146096) / 146097
	}
	ofEra := day - era*146097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	marchMonth := (5*ofYear + 2) / 153 // 0 is March
	dayOfMonth := ofYear - (153*marchMonth+2)/5 + 1
	month, year := marchMonth+3, era*400+yearOfEra
	if month > 12 {
		month, year = month-12, year+1
	}
	dst = append(appendDigits(dst, int(year), 4), '-')
	dst = append(appendDigits(dst, int(month), 2), '-')
	return appendDigits(dst, int(dayOfMonth), 2)
}

// parseDay reads year-month-day and returns the day since 1970.
func parseDay(text []byte) (int64, bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	year, okYear := number(text[:4])
	month, okMonth := number(text[5:7])
	day, okDay := number(text[8:])
	if !okYear || !okMonth || !okDay || year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	if month <= 2 {
		year--
		month += 12
	}
	era, yearOfEra := year/400, year%400
	ofYear := (153*(month-3)+2)/5 + day - 1
	ofEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + ofYear
	return int64(era*146097 + ofEra - 719468), true
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
