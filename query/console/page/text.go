package page

import (
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Short is an id with its middle left out: enough to tell ids apart by eye. Parties keep their names.
func Short(id string) string {
	name, fingerprint, isParty := strings.Cut(id, "::")
	if isParty {
		return shorten(name, 40) + "::" + middle(fingerprint)
	}
	return middle(id)
}

// middle leaves out the middle of a long text.
func middle(text string) string {
	const head, tail = 8, 6
	if len(text) <= head+tail+3 || !isASCII(text) {
		return shorten(text, 40)
	}
	return text[:head] + "…" + text[len(text)-tail:]
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Name is the part of a party's id that people read.
func Name(party string) string {
	name, _, _ := strings.Cut(party, "::")
	return name
}

// Entity is the last part of a template's name.
func Entity(template string) string { return template[strings.LastIndexByte(template, ':')+1:] }

// The addresses of pages.
func UpdatePath(id string) string     { return "/update/" + escape(id) }
func ContractPath(id string) string   { return "/contract/" + escape(id) }
func PartyPath(id string) string      { return "/party/" + escape(id) }
func TemplatePath(name string) string { return "/template/" + escape(name) }

// escape makes a text a segment of a path, or a value of a parameter.
func escape(text string) string { return url.PathEscape(text) }

// Grouped is a number with its integer digits in groups of three, and without the zeros at the end of its
// fraction.
func Grouped(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "\u2212", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}

// instantText is an instant as people read it, in UTC, down to what is not zero.
func instantText(at schemas.Micros) string {
	if at <= schemas.MinMicros {
		return "the beginning"
	}
	t := at.Time()
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000") + " UTC"
	}
	return t.Format("2006-01-02 15:04:05") + " UTC"
}
