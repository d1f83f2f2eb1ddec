package page

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"strings"
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

// Once is an id for a form that must have its effect once, however often it is sent: it goes into a
// hidden field when the form is made.
func Once() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails, see crypto/rand
	return hex.EncodeToString(id)
}
