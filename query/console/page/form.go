package page

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Field is a field of the form that the request sends, without spaces around it; "" if it is not there,
// or not text.
func (v *View) Field(name string) string {
	fields, err := url.ParseQuery(string(v.RawBody()))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(fields.Get(name), "\uFFFD"))
}

// Param is a parameter of the query string, without spaces around it; "" if it is not there.
func (v *View) Param(name string) string {
	text, _ := v.Query().OptionalText(name)
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}

// Time is a parameter of the query string that is a time, nil if it is not there.
func (v *View) Time(name string) (*schemas.Micros, error) {
	text := v.Param(name)
	if text == "" {
		return nil, nil
	}
	at, err := parseInstant(text)
	if err != nil {
		return nil, query.Errorf(query.Invalid, "%q is no time: write it as 2026-07-01, 2026-07-01T12:00 or 2026-07-01T12:00:00Z.", shorten(text, 40))
	}
	return &at, nil
}

// Once is an id for a form that must have its effect once, however often it is sent: it goes into a
// hidden field when the form is made.
func Once() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails, see crypto/rand
	return hex.EncodeToString(id)
}
