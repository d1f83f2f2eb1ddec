package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// Every setting is taken by a command that works with it, in a group; the file may hold settings of
// any group, whatever the command.
func TestCommandsTakeTheSettingsThatTheyUse(t *testing.T) {
	var cfg settings.Config
	all := cfg.Flags().All()
	uses := make(map[string][]string)
	for _, c := range newRoot(console.New(io.Discard, io.Discard), readBuild()).Commands() {
		all.VisitAll(func(f *pflag.Flag) {
			if c.Flags().Lookup(f.Name) != nil {
				uses[f.Name] = append(uses[f.Name], c.Name())
			}
		})
	}
	var file strings.Builder
	all.VisitAll(func(f *pflag.Flag) {
		if len(uses[f.Name]) < 4 { // up, config and doctor take all of them
			t.Errorf("only %q take --%s", uses[f.Name], f.Name)
		}
		if value := f.Value.String(); value != "[]" && value != "" {
			file.WriteString(settings.FileKey(f.Name) + ": " + strings.Trim(value, "[]") + "\n")
		}
	})
	path := filepath.Join(t.TempDir(), "lake.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"version", "--config", path}, io.Discard, io.Discard); err != nil {
		t.Errorf("a command with the settings of all others in the file: %v", err)
	}
}

// Help lists what a command takes under the headings of the groups, and all of it for config alone.
func TestHelpListsSettingsInGroups(t *testing.T) {
	for command, want := range map[string][]string{
		"sql":    {"General", "Store"},
		"get":    {"General", "Objects"},
		"export": {"General", "Upstream", "Store", "Objects", "Jobs"},
		"":       nil,
		"config": {"General", "Upstream", "Store", "Objects", "Jobs", "Query tier", "Ledger interface", "Validator interface", "Wallets", "Console"},
	} {
		var out bytes.Buffer
		if err := run(t.Context(), append(strings.Fields(command), "--help"), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		var headings []string
		for _, group := range settings.Groups {
			if strings.Contains(out.String(), "\n"+string(group)+":\n") {
				headings = append(headings, string(group))
			}
		}
		if got := strings.Join(headings, ", "); got != strings.Join(want, ", ") {
			t.Errorf("%q has settings under %s, want %s", command, got, strings.Join(want, ", "))
		}
	}
}
