package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// versionReport is what version prints.
type versionReport struct {
	Version  string    `json:"version"`
	Commit   string    `json:"commit"` // "" if the build does not know it
	Time     time.Time `json:"time"`   // of the commit, or of the build
	Built    bool      `json:"built"`  // whether it is that of the build
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
	Schema   int       `json:"schema"` // of the store, see docs/formats/store.md
}

func newVersion(c *cli) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "print the version, the commit, Go and the schema of the store",
		Example: "  ledgerlake version\n  ledgerlake version --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			r := reportVersion(c.build, buildCommit())
			if asJSON {
				return json.NewEncoder(c.data).Encode(r)
			}
			return r.print(c.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func reportVersion(b app.Build, commit string) versionReport {
	return versionReport{
		Version: b.Version, Commit: commit, Time: b.Time, Built: !b.Committed,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Schema: schemas.StoreVersion(),
	}
}

func (r versionReport) print(w io.Writer) error {
	what := "committed"
	if r.Built {
		what = "built"
	}
	_, err := fmt.Fprintf(w, "ledgerlake %s (%s %s)\ncommit  %s\ngo      %s %s\nschema  %d\n",
		r.Version, what, r.Time.Format("2006-01-02T15:04:05Z"), cmp.Or(r.Commit, "unknown"), r.Go, r.Platform, r.Schema)
	return err
}
