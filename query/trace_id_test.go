package query

import (
	"strings"
	"testing"
)

func TestTraceOf(t *testing.T) {
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, want := range map[string]string{
		"00-" + id + "-" + parent + "-01":                            id,
		"01-" + id + "-" + parent + "-01-of-a-later-version":         "", // letters beyond f
		"01-" + id + "-" + parent + "-01-abc":                        id,
		"":                                                           "",
		"00-" + id + "-" + parent:                                    "",
		"ff-" + id + "-" + parent + "-01":                            "",
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01":       "",
		"00-" + strings.ToUpper(id) + "-" + parent + "-01":           "",
		"00-" + id[1:] + "-" + parent + "-01":                        "",
		"00-" + id + "-" + parent + "-01-" + strings.Repeat("a", 99): "",
		"00-" + strings.Repeat("é", 16) + "-" + parent + "-01":       "",
	} {
		got := traceOf([]byte(header))
		if want != "" && got != want {
			t.Errorf("the trace of %q is %s, want %s", header, got, want)
		}
		if want == "" && (len(got) != 32 || strings.Contains(header, got) || got == traceOf([]byte(header))) {
			t.Errorf("the trace of %q is %s, want a new one", header, got)
		}
	}
}
