package page

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestShort(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ name, id, want string }{
		{"a short text stays", "abc", "abc"},
		{"an id keeps both ends", "1220" + hex, "12200123…abcdef"},
		{"a party keeps its name", "alice::1220" + hex, "alice::12200123…abcdef"},
		{"other scripts are cut at characters", strings.Repeat("я", 60), strings.Repeat("я", 39) + "…"},
		{"broken text is replaced", "a\xffb", "a\uFFFDb"},
	} {
		if got := Short(c.id); got != c.want {
			t.Errorf("%s: Short(%q) = %q, want %q", c.name, c.id, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "12": "12", "123": "123", "1234": "1,234", "1234567.8900000000": "1,234,567.89", "-1234.5": "\u22121,234.5",
		"0.0000000001": "0.0000000001", "1000000.0000000000": "1,000,000", "1234567890123456789.0123456789": "1,234,567,890,123,456,789.0123456789",
	} {
		if got := Grouped(text); got != want {
			t.Errorf("Grouped(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestLocalPath: a form that leads back must never lead to another site.
func TestLocalPath(t *testing.T) {
	for path, want := range map[string]string{
		"/updates?party=a%3A%3Ab": "/updates?party=a%3A%3Ab", "": "/", "updates": "/", "//evil.example/a": "/", "https://evil.example": "/",
		"/\\evil.example": "/", "javascript:alert(1)": "/", "/a\r\nSet-Cookie: b": "/", "/%zz": "/",
	} {
		if got := LocalPath(path); got != want {
			t.Errorf("LocalPath(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestParseInstant(t *testing.T) {
	noon, err := schemas.ParseTime("2026-07-01T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"2026-07-01T12:00", "2026-07-01 12:00", "2026-07-01T12:00:00", "2026-07-01T12:00:00Z", "2026-07-01T12:00:00.000000Z"} {
		if got, err := parseInstant(text); err != nil || got != noon {
			t.Errorf("parseInstant(%q) = %v, %v, want %v", text, got, err, noon)
		}
	}
	for _, text := range []string{"", "now", "2026-13-01", "12:00", "2026-07-01T25:00"} {
		if got, err := parseInstant(text); err == nil {
			t.Errorf("parseInstant(%q) = %v, want an error", text, got)
		}
	}
}
