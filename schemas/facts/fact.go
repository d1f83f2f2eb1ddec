package facts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Key says what a fact is about: an operation and the values of its path parameters.
type Key struct {
	Operation Operation
	// Arguments joins the parameters, each percent-encoded, by slashes; "" for none.
	Arguments string
}

// Of returns the key of an operation with parameters in the order of its path.
func Of(operation Operation, arguments ...string) Key {
	escaped := make([]string, len(arguments))
	for i, a := range arguments {
		escaped[i] = url.PathEscape(a)
	}
	return Key{operation, strings.Join(escaped, "/")}
}

// String is the operation with its arguments, for logs.
func (k Key) String() string {
	if k.Arguments == "" {
		return string(k.Operation)
	}
	return string(k.Operation) + "/" + k.Arguments
}

// Fact is what an upstream said, from a time on until there is a later fact of the key.
type Fact struct {
	Key
	// ValidFrom is when the upstream was asked, FetchedAt when it had answered.
	ValidFrom, FetchedAt schemas.Micros
	// Upstream is its URL without credentials.
	Upstream string
	// Body is canonical JSON; empty means that the upstream knows nothing any more.
	Body []byte
}

// SHA256 is the digest of the body as 64 hex digits.
func (f *Fact) SHA256() string {
	sum := sha256.Sum256(f.Body)
	return hex.EncodeToString(sum[:])
}

// Known reports whether there is something to tell.
func (f *Fact) Known() bool { return len(f.Body) > 0 }

// Final reports whether the body says something that holds: an answer may also say that it
// is too early to tell.
func (f *Fact) Final() bool {
	var answer struct {
		Status string `json:"status"`
	}
	return f.Known() && json.Unmarshal(f.Body, &answer) == nil && (answer.Status == "" || answer.Status == "Ok")
}
