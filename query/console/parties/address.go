package parties

import (
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// withParams is a path with parameters, names and values in turn; those without a value are left out.
func withParams(path string, params ...string) string {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			values.Set(params[i], params[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// pathSegment makes a text a segment of a path.
func pathSegment(text string) string { return url.PathEscape(text) }

// packageOf and moduleOf are parts of the name of a template.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name
}

func moduleOf(name string) string {
	_, module, _ := strings.Cut(name, ":")
	module, _, _ = strings.Cut(module, ":")
	return module
}

// instrumentText is an instrument as people read it: its id, and who issues it.
func instrumentText(instrument string) string {
	if i := strings.LastIndexByte(instrument, '/'); i >= 0 {
		return instrument[i+1:] + " of " + page.Name(instrument[:i])
	}
	return instrument
}

// longValue is how long a value in JSON is that is shown on demand only.
const longValue = 700

// signText and signClass are the amount of a movement with its sign, and its class of style.
func signText(m *accounts.Movement) string {
	text, _ := signed(m.Amount)
	return text
}

func signClass(m *accounts.Movement) string {
	_, class := signed(m.Amount)
	return class
}
