package openapitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
)

// CheckRoutes reports routes that are not documented and operations, or aliases of them,
// without a route. Those of notServed, written as "GET /path", must have none.
func (d *Document) CheckRoutes(t testing.TB, routes []query.Route, notServed []string) {
	t.Helper()
	documented := map[string]bool{}
	for _, op := range d.Operations {
		for _, path := range op.paths() {
			documented[op.Method+" "+path] = true
		}
	}
	served := map[string]bool{}
	for _, r := range routes {
		name := r.Method + " " + strings.ReplaceAll(r.Path, ":*}", "}")
		served[name] = true
		if !documented[name] {
			t.Errorf("route %s is not in the document", name)
		}
	}
	for name := range documented {
		switch waived := slices.Contains(notServed, name); {
		case waived && served[name]:
			t.Errorf("%s is served now: take it off the list of operations without a route", name)
		case !waived && !served[name]:
			t.Errorf("operation %s has no route", name)
		}
	}
	for _, name := range notServed {
		if !documented[name] {
			t.Errorf("%s is listed as not served but is no operation of the document", name)
		}
	}
}
