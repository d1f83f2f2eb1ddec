package app

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Rewind says how far a stream is taken back.
type Rewind struct {
	Stream string
	// To is the last record time to keep, of the public history, and ToOffset the last offset, of
	// a node's stream; ByOffset says that it was given.
	To       string
	ToOffset int64
	ByOffset bool
	// DryRun only plans it, and so does what is without Yes.
	DryRun, Yes bool
	// KeepPublished leaves what is published in the bucket as it is.
	KeepPublished bool
}

// RewindReport says what a rewind takes back, or has taken.
type RewindReport struct {
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
	// Nothing says that nothing reaches beyond the position.
	Nothing bool `json:"-"`
}

// rewindQuiet is for how long nothing may have been committed to a stream in a store that other
// processes can write to.
const rewindQuiet = time.Minute

// keep tells which batches stay, by their ends.
func (f *Rewind) keep() (func(schemas.Position) bool, error) {
	switch {
	case f.DryRun && f.Yes:
		return nil, settings.Usage("--dry-run and --yes contradict each other: give one")
	case f.Stream == schemas.ScanStream && (f.To == "" || f.ByOffset):
		return nil, settings.Usage("rewind needs --to, the last record time to keep, such as --to 2026-07-05T00:00:00Z")
	case f.Stream != schemas.ScanStream && (f.To != "" || !f.ByOffset || f.ToOffset < 0):
		return nil, settings.Usage("rewind of a node's stream needs --to-offset, the last offset to keep, 0 or more")
	case f.Stream != schemas.ScanStream:
		return func(p schemas.Position) bool { return p.Offset <= f.ToOffset }, nil
	}
	to, err := time.Parse(time.RFC3339Nano, f.To)
	if err != nil {
		return nil, settings.Usage("--to must be a time such as 2026-07-05T00:00:00Z, not %q", f.To)
	}
	return func(p schemas.Position) bool { return p.RecordTime <= schemas.MicrosOf(to) }, nil
}

// Rewind takes a stream back as r says.
func (a *App) Rewind(ctx context.Context, r Rewind) (*RewindReport, error) {
	keep, err := r.keep()
	if err != nil {
		return nil, err
	}
	if err := a.db.open(ctx); err != nil {
		return nil, err
	}
	if _, err := a.db.nodeStreams(ctx, r.Stream); err != nil {
		return nil, err
	}
	rewind := a.db.newRewind(r.Stream, keep)
	plan, err := rewind.Plan(ctx)
	if err != nil {
		return nil, err
	}
	report := &RewindReport{
		Stream: plan.Stream, From: plan.From.String(), To: plan.To.String(), Batches: plan.Batches, Items: plan.Items, Events: plan.Events,
		Pending: plan.Pending, Stopped: plan.Stopped, Nothing: plan.Nothing(),
	}
	var withdraw func(context.Context, schemas.Position) error
	if r.Stream == schemas.ScanStream && !r.KeepPublished {
		exporter, err := a.openExporter(ctx)
		if err != nil {
			return nil, err
		}
		beyond, err := exporter.Beyond(ctx, plan.To)
		if err != nil {
			return nil, err
		}
		report.Published, withdraw = beyond.Live, exporter.Withdraw
	}
	switch {
	case plan.Nothing():
	case r.Yes:
		err := a.db.seized(ctx, r.Stream, func(ctx context.Context) error {
			rewind := a.db.newRewind(r.Stream, keep)
			rewind.Withdraw = withdraw
			if _, err := rewind.Run(ctx); err != nil {
				return err
			}
			return a.db.deriveAgain(ctx, r.Stream)
		})
		if err != nil {
			return nil, err
		}
		report.Done = true
	}
	return report, nil
}

// newRewind returns a rewind by the store of the process as it is now.
func (d *database) newRewind(stream string, keep func(schemas.Position) bool) *indexer.Rewind {
	rewind := indexer.NewRewind(d.db, stream, keep, d.p.log)
	if d.p.cfg.ClickHouseDSN != "" {
		rewind.Quiet = rewindQuiet
	}
	return rewind
}

// openExporter opens the bucket and returns the exporter over it.
func (a *App) openExporter(ctx context.Context) (*export.Exporter, error) {
	if err := a.objects.open(ctx); err != nil {
		return nil, err
	}
	return a.objects.newExporter()
}
