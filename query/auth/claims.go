package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// claims are what a token says. They are read more strictly than JSON asks for, so that
// nothing that has looked at the token before us can have read another user in it.
type claims struct {
	subject               string
	audience              []string
	scope                 string
	expires, begins, made time.Time // zero without
}

// readClaims reads the payload of a token.
func readClaims(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errors.New("the token does not have three parts")
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return c, fmt.Errorf("the claims of the token: %w", err)
	}
	members, err := strictMembers(payload, "sub", "aud", "exp", "nbf", "iat", "iss", "jti", "scope")
	if err != nil {
		return c, fmt.Errorf("the claims of the token: %w", err)
	}
	r := claimReader{members: members}
	c = claims{
		subject: r.text("sub"), audience: r.texts("aud"), scope: r.text("scope"),
		expires: r.time("exp"), begins: r.time("nbf"), made: r.time("iat"),
	}
	r.text("iss")
	r.text("jti")
	return c, r.err
}

// checkHeader refuses a token whose header asks for what we do not do.
func checkHeader(token string) error {
	first, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil {
		return fmt.Errorf("the header of the token: %w", err)
	}
	members, err := strictMembers(text, "alg", "typ", "kid", "crit", "cty", "b64")
	if err != nil {
		return fmt.Errorf("the header of the token: %w", err)
	}
	for _, name := range []string{"crit", "b64"} { // extensions, of which we know none (RFC 7515, 4.1.11)
		if _, ok := members[name]; ok {
			return fmt.Errorf("the header of the token has %s", name)
		}
	}
	r := claimReader{members: members}
	for _, name := range []string{"alg", "typ", "kid", "cty"} {
		r.text(name)
	}
	return r.err
}

// strictMembers reads a JSON object whose members have names that differ, also in the members'
// objects, and which has none that is one of the known names but for its case.
func strictMembers(text []byte, known ...string) (map[string]json.RawMessage, error) {
	if err := jsonscan.Valid(text); err != nil { // which tells of names that are there twice
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	switch {
	case members == nil:
		return nil, errors.New("it is not a JSON object")
	case levels(text) > deepestClaim:
		return nil, fmt.Errorf("it is nested deeper than %d levels", deepestClaim)
	}
	for name := range members {
		for _, own := range known {
			if name != own && strings.EqualFold(name, own) {
				return nil, fmt.Errorf("member %q must be spelled %q", name, own)
			}
		}
	}
	return members, nil
}

// deepestClaim bounds objects and lists in each other.
const deepestClaim = 32

// levels is how deep the objects and lists of a JSON text are in each other.
func levels(text []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for depth := 0; ; deepest = max(deepest, depth) {
		switch token, err := d.Token(); {
		case err != nil: // of its end
			return deepest
		case token == json.Delim('{'), token == json.Delim('['):
			depth++
		case token == json.Delim('}'), token == json.Delim(']'):
			depth--
		}
	}
}

// claimReader reads members that may be absent. err is the first one.
type claimReader struct {
	members map[string]json.RawMessage
	err     error
}

// value reads a member into a pointer, unless it is absent. null is not a value.
func (r *claimReader) value(name string, into any) bool {
	raw, ok := r.members[name]
	if !ok {
		return false
	}
	err := json.Unmarshal(raw, into)
	if err == nil && string(raw) == "null" {
		err = errors.New("it is null")
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("member %s: %w", name, err)
	}
	return err == nil
}

func (r *claimReader) text(name string) (text string) {
	r.value(name, &text)
	return text
}

// texts reads a text or a list of texts.
func (r *claimReader) texts(name string) (list []string) {
	if raw := r.members[name]; len(raw) == 0 || raw[0] != '[' {
		var text string
		if r.value(name, &text) {
			return []string{text}
		}
		return nil
	}
	var values []*string
	r.value(name, &values)
	for _, v := range values {
		if v == nil {
			if r.err == nil {
				r.err = fmt.Errorf("member %s has null in it", name)
			}
			return nil
		}
		list = append(list, *v)
	}
	return list
}

// latestTime is the end of the year 9999 in seconds since 1970.
const latestTime = 253402300799

// time reads seconds since 1970, which may have a fraction.
func (r *claimReader) time(name string) time.Time {
	var seconds float64
	if !r.value(name, &seconds) {
		return time.Time{}
	}
	if seconds <= 0 || seconds > latestTime {
		if r.err == nil {
			r.err = fmt.Errorf("member %s: %v is not a time", name, seconds)
		}
		return time.Time{}
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9))
}
