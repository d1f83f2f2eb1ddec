package values_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/schemas"
	catalog "github.com/ledgerlake/ledgerlake/schemas/values"
)

const party = "alice::1220aa5b975dd2f34d5e7d8d389b900db0afd8deb6d2ee121d732a77ef4285a68f7e2a"

var contract = "00" + strings.Repeat("4f", 68)

func render(t *testing.T, json string) string {
	t.Helper()
	var b strings.Builder
	if err := values.Value(&page.View{}, []byte(json)).Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Values are shown by what they are, and what they carry is never markup.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		name, json string
		want       []string
		not        string
	}{
		{"a party leads to its page", `{"owner":"` + party + `"}`, []string{"<dt>owner</dt>", `href="/party/` + party + `"`}, ""},
		{"a contract leads to its page", `["` + contract + `"]`, []string{"<li>", `href="/contract/` + contract + `"`}, ""},
		{"a decimal keeps its digits", `"12345678901234567890.1234567890"`, []string{`title="12345678901234567890.1234567890"`, "12,345,678,901,234,567,890.123456789<"}, ""},
		{"a time", `"2026-07-01T10:00:00Z"`, []string{`<time datetime="2026-07-01T10:00:00.000000Z">2026-07-01 10:00:00 UTC</time>`}, ""},
		{"a time that is none", `"hello there, you are aZ"`, []string{"hello there, you are aZ"}, "<time"},
		{"none", `{"lock":null}`, []string{"<dt>lock</dt>", "none"}, ""},
		{"a boolean", `{"ok":true}`, []string{"yes"}, ""},
		{"markup in a text", `"<script>alert(1)</script>"`, []string{"&lt;script&gt;"}, "<script"},
		{"markup in a label", `{"<b>":"x"}`, []string{"&lt;b&gt;"}, "<b>"},
		{"markup that looks like a party", `"<img src=x>::1220"`, []string{"&lt;img"}, "<img"},
		{"an address", `{"url":"javascript:alert(1)"}`, []string{"javascript:alert(1)"}, "href"},
		{"no JSON", `2026-07-01 <i>`, []string{"2026-07-01 &lt;i&gt;"}, "<i>"},
		{"an empty record", `{}`, []string{"nothing"}, ""},
	} {
		got := render(t, c.json)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nlacks %s", c.name, got, want)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s\nhas %s", c.name, got, c.not)
		}
	}
}

// What is too long or too deep is cut, and says so.
func TestBounds(t *testing.T) {
	for name, json := range map[string]string{
		"a long list":   "[" + strings.Repeat(`"a",`, 100_000) + `"a"]`,
		"a deep record": strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
	} {
		if got := render(t, json); len(got) > 200_000 || !strings.Contains(got, "see the raw JSON") {
			t.Errorf("%s is shown in %d bytes: %.100s", name, len(got), got)
		}
	}
	if got := render(t, `"`+strings.Repeat("é", 10_000)+`"`); len(got) > 5000 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text is shown in %d bytes", len(got))
	}
}

// Labels come from the types of a catalogue.
func TestLabels(t *testing.T) {
	labels := values.NewLabels(catalog.Default())
	e := &schemas.Event{
		Kind: schemas.Exercised, PackageName: "splice-amulet", TemplateID: "aa:Splice.Amulet:Amulet", Choice: "Archive",
		Argument: []byte(`{"record":{}}`), Result: []byte(`{"unit":{}}`),
	}
	if argument, result := labels.Argument(e, schemas.ProtobufJSON); string(argument) != "{}" || string(result) != "{}" {
		t.Errorf("Archive: %s %s", argument, result)
	}
	e.Kind, e.Argument = schemas.Created, []byte(`{"record":{"fields":[{"value":{"party":"dso::1220"}},{"value":{"party":"a::1220"}},{"value":{"record":{"fields":[{"value":{"numeric":"1.5000000000"}},`+
		`{"value":{"record":{"fields":[{"value":{"int64":"7"}}]}}},{"value":{"record":{"fields":[{"value":{"numeric":"0.1000000000"}}]}}}]}}}]}}`)
	if argument, result := labels.Argument(e, schemas.ProtobufJSON); !strings.Contains(string(argument), `"initialAmount":"1.5000000000"`) || result != nil {
		t.Errorf("a coin: %s %s", argument, result)
	}
}
