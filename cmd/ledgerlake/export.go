package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

func newExport(c *cli) *cobra.Command {
	var from, to string
	var gc bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "export closed segments now",
		Long: `export publishes the closed days of history that are not published yet, or the closed hours
with --bulk-segments hour. It queues them as jobs and returns when they are done. --from and
--to limit the days or hours. With --export-agree it waits for peers, and fails if they have
different objects. --gc removes unlisted objects, unfinished uploads and, with
--bulk-retention, old days; worker does this at intervals.`,
		Example: "  ledgerlake export --data /srv/ledgerlake\n  ledgerlake export --from 2026-07-01 --to 2026-07-03\n  ledgerlake export --gc",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			limits, err := app.ParseLimits(from, to)
			if err != nil {
				return settings.AsUsage(err)
			}
			c.limitExports()
			a := c.app()
			defer a.CloseInto(&err)
			if !gc {
				return a.Export(cmd.Context(), limits, console.NewProgress(c.console))
			}
			done, err := a.CollectGarbage(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.stdout, "removed %d objects (%s), %d unfinished uploads; %d segments and folders expired\n",
				done.Objects, app.Megabytes(done.Bytes), done.Uploads, done.Expired)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first day or hour to export, such as 2026-07-01 or 2026-07-01T05")
	cmd.Flags().StringVar(&to, "to", "", "last day or hour to export")
	cmd.Flags().BoolVar(&gc, "gc", false, "remove unused objects from the bucket instead of exporting: see --gc-grace and --bulk-retention")
	return cmd
}
