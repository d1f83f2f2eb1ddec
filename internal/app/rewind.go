package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// rewindFlags say how far a stream is taken back.
type rewindFlags struct {
	stream, to          string
	offset              int64
	dryRun, yes, asJSON bool
	keepPublished       bool
}

// rewindReport is what rewind prints.
type rewindReport struct {
	Stream string `json:"stream"`
	From   string `json:"from"`
	To     string `json:"to"`
	// Batches, Items and Events are taken out of the store, Published segments and folders out
	// of the bucket.
	Batches   uint64 `json:"batches"`
	Items     uint64 `json:"items"`
	Events    uint64 `json:"events"`
	Published int    `json:"published"`
	Pending   bool   `json:"pending,omitempty"`
	Stopped   string `json:"stopped,omitempty"`
	Done      bool   `json:"done"`
}

// rewindQuiet is for how long nothing may have been committed to a stream in a store that other
// processes can write to.
const rewindQuiet = time.Minute

func newRewind(a *app) *cobra.Command {
	var f rewindFlags
	cmd := &cobra.Command{
		Use:   "rewind --to TIME | --stream node:PARTICIPANT --to-offset N",
		Short: "take a stream back to an earlier position, from where it is read again",
		Long: `rewind takes the batches of a stream that reach beyond a record time, or an offset of a
node's stream, out of the store, and with them all that was derived from them and the
segments, folders and Iceberg entries published since. What comes next is read from the
upstream again. It is the way back from history that an upstream should never have given,
such as an update dated years ahead, and from a stream that has stopped because the
upstream's history diverged.

Whole batches go, so that the stream may end earlier than asked for. Stop ingest and the
workers first: with a store of its own rewind refuses while another process holds it, with
a ClickHouse server while a writer has committed within the last minute. A writer that only
waits gives way. A rewind that is cut off is finished by repeating it; until then the stream
does not go on.`,
		Example: "  ledgerlake rewind --to 2026-07-05T00:00:00Z --dry-run\n" +
			"  ledgerlake rewind --stream scan --to 2026-07-05T00:00:00Z --yes\n" +
			"  ledgerlake rewind --stream node:PAR::validator-1::1220ab --to-offset 120000 --yes",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			keep, err := f.keep(cmd.Flags().Changed("to-offset"))
			if err != nil {
				return err
			}
			a.quiet()
			s := newStack(a)
			defer s.closeInto(&err)
			return s.rewind(cmd.Context(), f, keep)
		},
	}
	cmd.Flags().StringVar(&f.stream, "stream", schemas.ScanStream, "the stream: scan, or node:PARTICIPANT")
	cmd.Flags().StringVar(&f.to, "to", "", "last record time to keep, such as 2026-07-05T00:00:00Z, of the stream scan")
	cmd.Flags().Int64Var(&f.offset, "to-offset", 0, "last offset to keep, of a node's stream")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be taken back")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "take it back; without, it is only shown")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&f.keepPublished, "keep-published", false, "leave what is published in the bucket as it is")
	return cmd
}

// keep tells which batches stay, by their ends.
func (f *rewindFlags) keep(byOffset bool) (func(schemas.Position) bool, error) {
	switch {
	case f.dryRun && f.yes:
		return nil, settings.Usage("--dry-run and --yes contradict each other: give one")
	case f.stream == schemas.ScanStream && (f.to == "" || byOffset):
		return nil, settings.Usage("rewind needs --to, the last record time to keep, such as --to 2026-07-05T00:00:00Z")
	case f.stream != schemas.ScanStream && (f.to != "" || !byOffset || f.offset < 0):
		return nil, settings.Usage("rewind of a node's stream needs --to-offset, the last offset to keep, from 0 on")
	case f.stream != schemas.ScanStream:
		return func(p schemas.Position) bool { return p.Offset <= f.offset }, nil
	}
	to, err := time.Parse(time.RFC3339Nano, f.to)
	if err != nil {
		return nil, settings.Usage("--to must be a time such as 2026-07-05T00:00:00Z, not %q", f.to)
	}
	return func(p schemas.Position) bool { return p.RecordTime <= schemas.MicrosOf(to) }, nil
}

func (s *stack) rewind(ctx context.Context, f rewindFlags, keep func(schemas.Position) bool) error {
	if err := s.openStore(ctx); err != nil {
		return err
	}
	if _, err := s.nodeStreams(ctx, f.stream); err != nil {
		return err
	}
	rewind := indexer.NewRewind(s.db, f.stream, keep, s.app.log)
	if s.app.cfg.ClickHouseDSN != "" {
		rewind.Quiet = rewindQuiet
	}
	plan, err := rewind.Plan(ctx)
	if err != nil {
		return err
	}
	report := rewindReport{
		Stream: plan.Stream, From: plan.From.String(), To: plan.To.String(), Batches: plan.Batches, Items: plan.Items, Events: plan.Events,
		Pending: plan.Pending, Stopped: plan.Stopped,
	}
	if f.stream == schemas.ScanStream && !f.keepPublished {
		exporter, err := s.rewindExporter(ctx)
		if err != nil {
			return err
		}
		beyond, err := exporter.Beyond(ctx, plan.To)
		if err != nil {
			return err
		}
		report.Published, rewind.Withdraw = beyond.Live, exporter.Withdraw
	}
	switch {
	case plan.Nothing():
	case f.yes:
		if _, err := rewind.Run(ctx); err != nil {
			return err
		}
		report.Done = true
		if err := s.deriveAgain(ctx, f.stream); err != nil {
			return err
		}
	}
	return report.print(s.app, &f, plan.Nothing())
}

func (s *stack) rewindExporter(ctx context.Context) (*export.Exporter, error) {
	if err := s.openBucket(ctx); err != nil {
		return nil, err
	}
	return s.newExporter()
}

// deriveAgain lets what was emptied catch up with the stream.
func (s *stack) deriveAgain(ctx context.Context, stream string) error {
	if err := s.deriveLifetimes(ctx, stream); err != nil {
		return fmt.Errorf("deriving the lifetimes of %s again: %w", stream, err)
	}
	if stream == schemas.ScanStream {
		return nil
	}
	if err := indexer.NewWallets(s.db, stream, 0, s.app.log).CatchUp(ctx); err != nil {
		return fmt.Errorf("deriving the wallets of %s again: %w", stream, err)
	}
	return nil
}

func (r *rewindReport) print(a *app, f *rewindFlags, nothing bool) error {
	if f.asJSON {
		if err := json.NewEncoder(a.stdout).Encode(r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	fmt.Fprintf(a.stdout, "%s stands at %s\n", r.Stream, r.From)
	if r.Stopped != "" {
		fmt.Fprintf(a.stdout, "it has stopped: %s\n", r.Stopped)
	}
	if nothing {
		fmt.Fprintln(a.stdout, "nothing reaches beyond that: there is nothing to take back")
		return nil
	}
	fmt.Fprintf(a.stdout, "back to %s go %d batches with %d items and %d events", r.To, r.Batches, r.Items, r.Events)
	if r.Pending {
		fmt.Fprint(a.stdout, ", a batch that was announced only")
	}
	fmt.Fprintf(a.stdout, ", and %d published segments and folders\n", r.Published)
	switch {
	case r.Done:
		fmt.Fprintln(a.stdout, "done: ingest goes on from there")
	case !f.dryRun:
		fmt.Fprintln(a.stdout, "nothing was changed: repeat it with --yes")
	}
	return nil
}
