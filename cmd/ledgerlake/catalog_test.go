package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func TestDoctorReadsTheCatalogue(t *testing.T) {
	good, bad := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(good, "acme.yaml"):      "package: acme\ntemplates: {\"M:T\": {fields: {x: Text}}, \"M:U\": {fields: {}}}\n",
		filepath.Join(bad, "acme.yaml"):       "package: acme\ntemplates: {\"M:T\": {fields: {x: String}}}\n",
		filepath.Join(bad, "README.md"):       "not a catalogue file",
		filepath.Join(good, "notes.yaml.old"): "not a catalogue file",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, dir, want string
		ok              bool
	}{
		{"none", "", "templates of the network", true},
		{"two templates", good, ", 2 more in " + good, true},
		{"a mistake", bad, "acme.yaml: template M:T: x: line 2: type String: no type \"String\" in package acme and its imports: write Text", false},
		{"no such folder", filepath.Join(bad, "none"), "no such file", false},
		{"a file", filepath.Join(good, "acme.yaml"), "is not a folder", false},
		{"an empty folder", t.TempDir(), "there is no *.yaml file", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			// Other findings, such as a missing engine, may fail the command: only one counts here.
			_ = run(t.Context(), []string{"doctor", "--json", "--data", t.TempDir(), "--catalog", c.dir}, &out, io.Discard)
			checks := parse[struct{ Checks []app.Finding }](t, out.Bytes()).Checks
			i := slices.IndexFunc(checks, func(f app.Finding) bool { return f.Check == "catalogue" })
			if i < 0 || checks[i].OK != c.ok || !strings.Contains(checks[i].Detail, c.want) || (checks[i].Fix == "") != c.ok {
				t.Errorf("doctor finds %+v, want %q", checks, c.want)
			}
		})
	}
}
