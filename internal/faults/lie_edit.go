package faults

import (
	"bytes"
	"math/rand/v2"
	"strings"
)

// The edits change the JSON text of one item as it came. All of them are the same
// whenever they are made, with numbers drawn from an equal source.

// occurrences returns where each value that follows the marker begins.
func occurrences(item []byte, marker string) []int {
	var at []int
	for from := 0; ; {
		i := bytes.Index(item[from:], []byte(marker))
		if i < 0 {
			return at
		}
		from += i + len(marker)
		at = append(at, from)
	}
}

// replaceByte changes the byte at i by other, in a copy.
func replaceByte(item []byte, i int, other func(byte) byte) []byte {
	changed := bytes.Clone(item)
	changed[i] = other(changed[i])
	return changed
}

func insert(item []byte, at int, text string) []byte {
	return append(append(bytes.Clone(item[:at]), text...), item[at:]...)
}

// nextDigit never gives a zero, with which a number must not begin.
func nextDigit(b byte) byte { return '1' + (b-'0')%9 }

// nextHex changes a hex digit or letter to another of the same sort.
func nextHex(b byte) byte {
	switch {
	case b >= '0' && b <= '9':
		return nextDigit(b)
	case b == 'f' || b == 'z':
		return 'a'
	}
	return b + 1
}

// changeDigit changes the digit at an offset behind one of the places with the marker.
func changeDigit(r *rand.Rand, item []byte, marker string, offset int) ([]byte, bool) {
	var digits []int
	for _, i := range occurrences(item, marker) {
		if i+offset < len(item) && item[i+offset] >= '0' && item[i+offset] <= '9' {
			digits = append(digits, i+offset)
		}
	}
	if len(digits) == 0 {
		return nil, false
	}
	return replaceByte(item, digits[r.IntN(len(digits))], nextDigit), true
}

func changeAmount(r *rand.Rand, item []byte) ([]byte, bool) {
	return changeDigit(r, item, `"numeric":"`, 0)
}

// changeVerdict changes the hundredths of the seconds of the time.
func changeVerdict(r *rand.Rand, item []byte) ([]byte, bool) {
	return changeDigit(r, item, `"finalization_time":"`, len("2026-07-01T00:00:00.0"))
}

func changeTraffic(r *rand.Rand, item []byte) ([]byte, bool) {
	return changeDigit(r, item, `"total_traffic_cost":`, 0)
}

func changeTemplate(r *rand.Rand, item []byte) ([]byte, bool) {
	return changeText(r, item, `"template_id":"`)
}

func changeSignatory(r *rand.Rand, item []byte) ([]byte, bool) {
	return changeText(r, item, `"signatories":["`)
}

// changeText changes the first character of one of the texts behind the marker.
func changeText(r *rand.Rand, item []byte, marker string) ([]byte, bool) {
	at := occurrences(item, marker)
	if len(at) == 0 {
		return nil, false
	}
	return replaceByte(item, at[r.IntN(len(at))], nextHex), true
}

// changeAny changes something in whatever item there is.
func changeAny(r *rand.Rand, item []byte) ([]byte, bool) {
	for _, edit := range []func(*rand.Rand, []byte) ([]byte, bool){changeAmount, changeTemplate, changeVerdict} {
		if changed, ok := edit(r, item); ok {
			return changed, true
		}
	}
	return nil, false
}

// changeTime moves all record times of the item, which are equal, by a microsecond. It
// cannot where that would change the second.
func changeTime(_ *rand.Rand, item []byte) ([]byte, bool) {
	at := occurrences(item, `"record_time":"`)
	if len(at) == 0 {
		return nil, false
	}
	changed := bytes.Clone(item)
	for _, i := range at {
		last := i + bytes.IndexByte(item[i:], '"') - len("0Z") // the sixth digit of the fraction
		for ; changed[last] == '9'; last-- {
			changed[last] = '0'
		}
		if changed[last] == '.' {
			return nil, false
		}
		changed[last]++
	}
	return changed, true
}

const beyondInt64 = "9223372036854775808"

func growValue(r *rand.Rand, item []byte) ([]byte, bool) {
	at := occurrences(item, `"int64":"`)
	if len(at) == 0 {
		return nil, false
	}
	i := at[r.IntN(len(at))]
	end := i + bytes.IndexByte(item[i:], '"')
	return append(append(bytes.Clone(item[:i]), beyondInt64...), item[end:]...), true
}

func changeMigration(_ *rand.Rand, item []byte) ([]byte, bool) { return setMigration(item, "7") }
func growMigration(_ *rand.Rand, item []byte) ([]byte, bool)   { return setMigration(item, beyondInt64) }

// setMigration changes the first migration id: that of the update, or of the verdict
// where there is no update.
func setMigration(item []byte, number string) ([]byte, bool) {
	at := occurrences(item, `"migration_id":`)
	if len(at) == 0 {
		return nil, false
	}
	end := at[0]
	for item[end] >= '0' && item[end] <= '9' {
		end++
	}
	return append(append(bytes.Clone(item[:at[0]]), number...), item[end:]...), true
}

func dropTime(_ *rand.Rand, item []byte) ([]byte, bool) {
	const member = `"record_time":"`
	i := bytes.Index(item, []byte(member))
	if i < 0 {
		return nil, false
	}
	end := i + len(member) + bytes.IndexByte(item[i+len(member):], '"') + 1
	if item[end] != ',' {
		return nil, false // the last member: others are easier to take out
	}
	return append(bytes.Clone(item[:i]), item[end+1:]...), true
}

// payloads are the members in which values stand.
var payloads = []string{`"create_arguments":{`, `"choice_argument":{`}

func insertInPayload(item []byte, text string) ([]byte, bool) {
	for _, marker := range payloads {
		if at := occurrences(item, marker); len(at) > 0 {
			return insert(item, at[0], text), true
		}
	}
	return nil, false
}

// OversizedBytes is how large the lie "oversized update" makes an item at least.
const OversizedBytes = 3 << 20

func inflate(_ *rand.Rand, item []byte) ([]byte, bool) {
	at := occurrences(item, `"party":"`)
	if len(at) == 0 {
		return nil, false
	}
	return insert(item, at[0], strings.Repeat("x", OversizedBytes)), true
}

func breakText(r *rand.Rand, item []byte) ([]byte, bool) {
	at := occurrences(item, `"party":"`)
	if len(at) == 0 {
		return nil, false
	}
	return insert(item, at[r.IntN(len(at))], "\xff\xc0"), true
}

func doubleKey(_ *rand.Rand, item []byte) ([]byte, bool) {
	return insertInPayload(item, `"record":{"fields":[]},`)
}

func nest(_ *rand.Rand, item []byte) ([]byte, bool) {
	const depth = 5000
	text := `"text":` + strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth) + `,`
	return insertInPayload(item, text)
}

func otherEncoding(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`protobuf_json`), []byte(`compact_json`))
}
