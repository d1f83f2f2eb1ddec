package remote

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// LedgerError is the body of the errors of a node's ledger API.
type LedgerError struct {
	// Code is stable, such as CONTRACT_NOT_FOUND.
	Code string
	// Cause says it in words.
	Cause string
	// Category is one of the 14 kinds of errors, the same on all nodes.
	Category int
	// Context has details by name, such as definite_answer.
	Context map[string]string
	// Resources are what the error is about: pairs of kind and id.
	Resources [][2]string
	// RetryAfter is the wait that the node asks for, 0 if none.
	RetryAfter time.Duration
}

// ParseLedgerError reads the node's own error, of which code and category are always
// there; ok is false for anything else.
func ParseLedgerError(body []byte) (e LedgerError, ok bool) {
	var wire struct {
		Code      string                     `json:"code"`
		Cause     string                     `json:"cause"`
		Category  *int                       `json:"errorCategory"`
		RetryInfo *string                    `json:"retryInfo"`
		Context   map[string]json.RawMessage `json:"context"`
		Resources [][]string                 `json:"resources"`
	}
	if json.Unmarshal(body, &wire) != nil || wire.Code == "" || wire.Category == nil {
		return LedgerError{}, false
	}
	e = LedgerError{Code: wire.Code, Cause: wire.Cause, Category: *wire.Category, Context: texts(wire.Context)}
	for _, pair := range wire.Resources {
		if len(pair) == 2 {
			e.Resources = append(e.Resources, [2]string{pair[0], pair[1]})
		}
	}
	if wire.RetryInfo != nil {
		e.RetryAfter = retryInfo(*wire.RetryInfo)
	}
	return e, true
}

// texts are the values as texts: those that are no JSON strings as they stand.
func texts(raw map[string]json.RawMessage) map[string]string {
	if len(raw) == 0 {
		return nil
	}
	plain := make(map[string]string, len(raw))
	for name, value := range raw {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		plain[name] = text
	}
	return plain
}

// retryInfo reads a duration such as "1 second" or "500 milliseconds", 0 if it is none.
// More than a minute counts as a minute.
func retryInfo(text string) time.Duration {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	for prefix, scale := range map[string]time.Duration{
		"milli": time.Millisecond, "second": time.Second, "minute": time.Minute,
	} {
		if strings.HasPrefix(unit, prefix) {
			return min(time.Duration(n)*scale, time.Minute)
		}
	}
	return 0
}
