package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/verify"
)

func newVerify(c *cli) *cobra.Command {
	var v app.VerifyConfig
	asJSON := false
	names := app.CheckNames()
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "check that the store has all of history, and that the published objects match it",
		Long: `verify reads back every row of the store and every published object. It repairs nothing:
ledgerlake repair does. The exit status is 1 if anything differs. --check selects some of the checks:

  parts      every file of every part of every table, including indexes, has the checksum
             that it was written with; no part is missing or set aside
  batches    the journal has no gap, and each batch has the rows it was committed with
  hashes     the content of each batch has the hash it was committed with
  days       each day has the same rows as a peer: another ledgerlake, or a scan (--peer)
  verdicts   each verdict that commits a transaction of which the governance party is informed
             has its update, and the verdicts on public transactions have no gap
  lifetimes  contract lifetimes, derived again from the events, match the store; no contract
             that the governance party signs ends without having begun, and each migration
             begins with those that were active before
  coins      every transfer balances, and only choices that mint or burn change the supply;
             in a node's own stream, where the node sees a transfer as a whole
  rewards    in each round of which the network published rewards of apps by traffic, the recorded
             activity follows from the verdicts, and amounts and root from the activity
  lookups    where --lookup-rows was used, the copies by update id match history; those of
             a node's stream, by offset, match its updates
  indexes    samples of history are found by update id, external transaction hash and contract
             id, as the query tier looks them up
  movements  the rows of tables movements, round_entries and labels, derived again from public history,
             match the store; movements add up to the coins that parties hold, and nothing is unexplained
  tables     the rows of typed tables, derived again from each stream, match the store
  wallets    contracts, transaction logs and tracked offers of a node's parties, derived again
             from its stream, match the store
  objects    each object has the SHA-256, row count and order of its manifest, and each
             segment's tables have the same digests as the store

It verifies all streams of the store, or the one of --stream. days, verdicts, rewards and
objects are about the public history, which is stream scan.

Without --check it runs all checks that apply, days only with --peer. If --check names days
and there is no --peer, it compares with --scan-url.

With --against it compares only the lines of files in the network's layout, which another
operator or the network has published, with those that this store gives. How the lines are cut
into files and compressed does not matter. The first lines that differ are shown.`,
		Example: "  ledgerlake verify --data /srv/ledgerlake\n" +
			"  ledgerlake verify --stream scan\n" +
			"  ledgerlake verify --check batches,hashes --json | jq .checks\n" +
			"  ledgerlake verify --check days --peer https://lake.example.com\n" +
			"  ledgerlake verify --layout network --against ./bulk",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			report, err := a.Verify(cmd.Context(), v, console.NewProgress(c.console))
			if err != nil {
				return err
			}
			return c.reportVerification(report, asJSON)
		},
	}
	cmd.Flags().StringSliceVar(&v.Checks, "check", nil, "checks to run: "+strings.Join(names, ", ")+"; default all that apply")
	cmd.Flags().StringVar(&v.Stream, "stream", "", "the stream to verify: scan, or node:PARTICIPANT; default all")
	cmd.Flags().StringVar(&v.Peer, "peer", "", "address of a ledgerlake or scan whose history must be the same")
	cmd.Flags().StringVar(&v.Against, "against", "", "folder with files as the network publishes them, by their keys, whose lines must be those of the store; nothing else is checked")
	cmd.Flags().StringVar(&v.Layout, "layout", app.NetworkLayout, "layout of the files of --against")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *cli) reportVerification(v *app.Verification, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(c.data).Encode(v); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		printVerification(c.stdout, v)
	}
	if !v.OK {
		return fmt.Errorf("verification found differences in %s: %w", strings.Join(v.Failed(), ", "), errReported)
	}
	return nil
}

// printVerification writes the report for people: tables, then a line for each check with its findings
// below it, and the same for each stream of a node under its name.
func printVerification(w io.Writer, v *app.Verification) {
	if v.Public {
		printTables(w, v.Tables)
		if s := v.Supply; s != nil {
			fmt.Fprintf(w, "%s coins in circulation: %s carried over, %s minted, %s burned\n", s.Circulating, s.Carried, s.Minted, s.Burned)
		}
	}
	printChecks(w, v.Checks)
	for _, st := range v.Streams {
		fmt.Fprintf(w, "stream %s: %d items\n", st.Stream, st.Items)
		printTables(w, st.Tables)
		printChecks(w, st.Checks)
	}
}

func printTables(w io.Writer, tables verify.Tables) {
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(w, "%-18s %12d rows  %s\n", table, tables[table].Rows, tables[table].Hash())
	}
}

func printChecks(w io.Writer, checks []*verify.Check) {
	for _, c := range checks {
		outcome := "ok"
		if !c.OK {
			outcome = fmt.Sprintf("%d DIFFERENCES", c.Total)
		}
		var counts []string
		for _, kind := range slices.Sorted(maps.Keys(c.Checked)) {
			counts = append(counts, fmt.Sprintf("%d %s", c.Checked[kind], strings.ReplaceAll(kind, "_", " ")))
		}
		fmt.Fprintf(w, "%-10s %-16s %s\n", c.Name, outcome, strings.Join(counts, ", "))
		for _, f := range c.Findings {
			fmt.Fprintln(w, "  DIFFERENCE:", f)
		}
		if more := c.Total - int64(len(c.Findings)); more > 0 {
			fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
}
