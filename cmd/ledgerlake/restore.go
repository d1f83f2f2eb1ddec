package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
)

func newRestore(c *cli) *cobra.Command {
	var lines, from string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "rebuild the store from the published objects",
		Long: `restore reads the Parquet objects in the bucket, and nothing else, and writes their history
into the store through the same writer as ingest: exactly once, and after an interruption
from where it stopped. It also derives contract lifetimes and records the segments as
published. ledgerlake verify then compares the store with the objects, and ingest continues
from an upstream where the last segment ends.

A store that already has history must have the beginning of what the objects have. A missing
segment in between is an error.

With --from the history comes from files in the network's own layout, such as those that another
operator publishes, in folders like 2026-07-01T00:00:00Z~2026-07-02T00:00:00Z. It has no verdicts and no
contracts that were carried over into later migrations: those come from --scan-url. Where there are only
files in compact_json the catalogue of templates has the types. Afterwards
ledgerlake verify --layout network --against compares the store with the files.

With --lines no store is needed: every update is written to a file, or to standard output
with -, as one line of canonical JSON, in the form that /v2/updates returns; imports in that
of /v0/backfilling/import-updates.`,
		Example: "  ledgerlake restore --data /srv/ledgerlake --s3-endpoint https://s3.example.com --s3-bucket lake --s3-access-key KEY --s3-secret-key SECRET\n" +
			"  ledgerlake verify --data /srv/ledgerlake\n" +
			"  ledgerlake restore --data /srv/ledgerlake --from /srv/published --scan-url https://scan.example.com\n" +
			"  ledgerlake restore --data /srv/ledgerlake --lines - | zstd > updates.jsonl.zst",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			switch {
			case from != "" && lines != "":
				return errors.New("--from fills a store, --lines needs none: leave one of them out")
			case lines == "":
				return a.Restore(cmd.Context(), from, console.NewProgress(c.console))
			}
			var file *os.File
			err = a.RestoreLines(cmd.Context(), func() (_ io.Writer, err error) {
				if lines == "-" {
					return c.data, nil
				}
				if file, err = os.Create(lines); err != nil {
					return nil, fmt.Errorf("creating the file of updates: %w", err)
				}
				return file, nil
			})
			if file != nil {
				err = errors.Join(err, file.Close())
			}
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "folder with files in the network's own layout to restore from instead of the bucket")
	cmd.Flags().StringVar(&lines, "lines", "", "write the updates to this file as JSON lines instead of to a store; - for standard output")
	return cmd
}
