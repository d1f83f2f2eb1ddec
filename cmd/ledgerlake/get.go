package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// getFlags say what to look up.
type getFlags struct {
	updateID, contractID string
	cost                 bool
}

func newGet(c *cli) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:   "get --update-id ID | --contract-id ID",
		Short: "look up an update or a contract in the published objects, without a database",
		Long: `get reads single updates straight from the bucket. In a segment with lookup objects, which
worker writes with --bulk-lookups, this takes one request for the position and one for the
update. The manifest of each segment and a filter of about two bytes per id are downloaded
once and kept below --data. Other segments are searched by the Bloom filters and page
indexes of their Parquet objects, which takes tens of requests.

With --contract-id it prints the first event that created the contract or brought it in: a
creation, an assignment or an import.`,
		Example: "  ledgerlake get --update-id 1220fe4b... --s3-endpoint https://s3.example.com --s3-bucket lake --s3-access-key KEY --s3-secret-key SECRET\n" +
			"  ledgerlake get --contract-id 00a1b2... --cost",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && f.updateID == "" && f.contractID == "" {
				return fmt.Errorf("get takes the id as a flag: ledgerlake get --update-id %s, or --contract-id for a contract", args[0])
			}
			return noArguments(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if (f.updateID == "") == (f.contractID == "") {
				return settings.Usage("get needs either --update-id ID or --contract-id ID")
			}
			if err := checkUpdateID(f.updateID); err != nil {
				return err
			}
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			return c.get(cmd.Context(), a, f)
		},
	}
	cmd.Flags().StringVar(&f.updateID, "update-id", "", "print this update")
	cmd.Flags().StringVar(&f.contractID, "contract-id", "", "print the event that created this contract")
	cmd.Flags().BoolVar(&f.cost, "cost", false, "print the number of requests and bytes to standard error")
	return cmd
}

// updateIDLength is the length of an update id: 1220, which says SHA-256, and 64 hex digits.
const updateIDLength = 4 + 64

// checkUpdateID refuses what is the beginning of an update id, as tables and logs show it: it
// would be looked for in the whole bucket, in vain.
func checkUpdateID(id string) error {
	if strings.HasPrefix(id, "1220") && len(id) < updateIDLength {
		return settings.Usage("--update-id must be a complete id of %d characters, but %s has %d: copy it from /v2/updates or ledgerlake sql", updateIDLength, id, len(id))
	}
	return nil
}

func (c *cli) get(ctx context.Context, a *app.App, f getFlags) error {
	var found archive.Found
	err := a.Published(ctx, func(ctx context.Context, archive *archive.Archive) (err error) {
		if f.updateID != "" {
			found, err = archive.Update(ctx, f.updateID)
		} else {
			found, err = archive.Contract(ctx, f.contractID)
		}
		return err
	})
	if f.cost {
		cost := found.Cost
		fmt.Fprintf(c.stderr, "%d range requests, %d bytes; downloaded once and kept: %d, %d bytes\n", cost.Requests, cost.Bytes, cost.KeptRequests, cost.KeptBytes)
	}
	if err != nil {
		return err
	}
	row := found.Update
	if f.contractID != "" {
		row = found.Event
	}
	_, err = fmt.Fprintf(c.data, "%s\n", row)
	return err
}
