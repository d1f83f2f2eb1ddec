package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Repair says what is repaired.
type Repair struct {
	// Stream is scan, or node:PARTICIPANT; all when empty.
	Stream string
	// Yes repairs what is found; without it nothing is changed.
	Yes bool
}

// RepairReport is what a repair has found in each stream, and done.
type RepairReport struct {
	Streams []*StreamRepair `json:"streams"`
	// OK says that nothing is damaged any more.
	OK bool `json:"ok"`
}

// Damaged reports whether something was found.
func (r *RepairReport) Damaged() bool {
	for _, s := range r.Streams {
		if len(s.Batches) > 0 || s.PlaceHours > 0 || len(s.Derived) > 0 {
			return true
		}
	}
	return false
}

// StreamRepair is what was found in one stream, and done.
type StreamRepair struct {
	Stream string `json:"stream"`
	// Checked is the number of batches that were read back.
	Checked int `json:"batches_checked"`
	// Batches are those of which rows were missing, doubled or changed.
	Batches []BatchRepair `json:"batches,omitempty"`
	// PlaceHours is the number of hours in which the places of history were wrong.
	PlaceHours int `json:"place_hours,omitempty"`
	// Derived are the kinds of derived tables that were wrong: lifetimes, wallets, movements, rollups, tables.
	Derived []string `json:"derived,omitempty"`
}

// BatchRepair is one damaged batch.
type BatchRepair struct {
	Sequence int64  `json:"sequence"`
	Through  string `json:"through"`
	Items    uint64 `json:"items"`
	// From is where its rows were taken from, objects or upstream; "" if it was not repaired.
	From string `json:"from,omitempty"`
	// Failed is why it could not be repaired.
	Failed string `json:"failed,omitempty"`
}

// repairPatience is for how long an upstream is asked again.
const repairPatience = time.Minute

// repairer repairs one stream.
type repairer struct {
	*App
	*indexer.Repair
	stream   string
	progress *console.Progress
	report   *StreamRepair
	commits  []store.BatchRow // that are damaged, in the order of history
}

// Repair finds batches of history whose rows are not those that were committed, and with r.Yes takes
// them from the published objects, or else from the upstreams of the settings.
func (a *App) Repair(ctx context.Context, r Repair, progress *console.Progress) (*RepairReport, error) {
	if err := a.db.open(ctx); err != nil {
		return nil, err
	}
	streams := []string{schemas.ScanStream}
	if r.Stream != schemas.ScanStream {
		nodes, err := a.db.nodeStreams(ctx, r.Stream)
		if err != nil {
			return nil, err
		}
		if streams = append(streams, nodes...); r.Stream != "" {
			streams = nodes
		}
	}
	if r.Yes {
		if err := a.objects.open(ctx); err != nil {
			return nil, err
		}
	}
	report := new(RepairReport)
	for _, s := range streams {
		one := &StreamRepair{Stream: s}
		report.Streams = append(report.Streams, one)
		if err := a.repairStream(ctx, r, one, progress); err != nil {
			return report, fmt.Errorf("repairing %s: %w", s, err)
		}
	}
	report.OK = !report.Damaged()
	if !r.Yes {
		return report, nil
	}
	err := a.db.lookForDamage(ctx)
	report.OK = err == nil && !report.failed()
	if err != nil && !errors.Is(err, schemas.ErrDamaged) {
		return report, err
	}
	return report, nil
}

func (a *App) repairStream(ctx context.Context, r Repair, report *StreamRepair, progress *console.Progress) error {
	of := func() *repairer {
		return &repairer{App: a, Repair: indexer.NewRepair(a.db.db, report.Stream, a.p.log), stream: report.Stream, progress: progress, report: report}
	}
	if !r.Yes {
		return of().look(ctx)
	}
	return a.db.seized(ctx, report.Stream, func(ctx context.Context) error { return of().repair(ctx) })
}

// failed reports whether something could not be repaired.
func (r *RepairReport) failed() bool {
	for _, s := range r.Streams {
		for _, b := range s.Batches {
			if b.Failed != "" {
				return true
			}
		}
	}
	return false
}

// look finds what is damaged.
func (r *repairer) look(ctx context.Context) error {
	if err := r.findBatches(ctx); err != nil {
		return err
	}
	wrong, err := r.wrongPlaces(ctx)
	if err != nil {
		return err
	}
	r.report.PlaceHours = len(wrong)
	if len(r.commits) > 0 {
		return nil // what is derived cannot be compared with history that is not there
	}
	return r.findDerived(ctx)
}

// repair finds what is damaged and repairs it: rows first, then the places that lead to them, then what
// is derived from them.
func (r *repairer) repair(ctx context.Context) error {
	if err := r.findBatches(ctx); err != nil {
		return err
	}
	if err := r.repairBatches(ctx); err != nil {
		return err
	}
	if err := r.repairPlaces(ctx); err != nil {
		return err
	}
	for _, b := range r.report.Batches {
		if b.Failed != "" {
			return nil // what is derived cannot be compared with history that is not there
		}
	}
	return r.repairDerived(ctx)
}

// findBatches reads all batches back.
func (r *repairer) findBatches(ctx context.Context) error {
	commits, err := r.Commits(ctx)
	if err != nil {
		return err
	}
	r.report.Checked = len(commits)
	if r.commits, err = r.damaged(ctx, "look for damage", commits); err != nil {
		return err
	}
	for _, c := range r.commits {
		r.report.Batches = append(r.report.Batches, BatchRepair{Sequence: c.Sequence, Through: c.Through.String(), Items: c.Items})
	}
	return nil
}

func (r *repairer) damaged(ctx context.Context, label string, commits []store.BatchRow) ([]store.BatchRow, error) {
	r.progress.Begin(label, "updates and verdicts", 0)
	damaged, err := verify.Damaged(ctx, verify.Config{Source: audit.NewReader(r.db.db, r.stream), Progress: r.progress.Set}, commits)
	if err != nil {
		return nil, err
	}
	r.progress.End(fmt.Sprintf("%s: %d batches, %d damaged", r.stream, len(commits), len(damaged)))
	return damaged, nil
}

// repairBatches puts the rows of the damaged batches back.
func (r *repairer) repairBatches(ctx context.Context) error {
	if len(r.commits) == 0 {
		return nil
	}
	r.progress.Begin("repair", "batches", int64(len(r.commits)))
	if err := r.fromObjects(ctx); err != nil {
		return err
	}
	repaired := 0
	for i := range r.report.Batches {
		if b := &r.report.Batches[i]; b.From == "" {
			if err := r.fromUpstream(ctx, i); err != nil {
				return err
			}
		}
		if r.report.Batches[i].Failed == "" {
			repaired++
		}
		r.progress.Set(int64(i+1), int64(len(r.commits)))
	}
	r.progress.End(fmt.Sprintf("%s: %d of %d batches", r.stream, repaired, len(r.commits)))
	still, err := r.damaged(ctx, "read back", r.commits)
	if err != nil {
		return err
	}
	for _, c := range still {
		for i := range r.report.Batches {
			if b := &r.report.Batches[i]; b.Sequence == c.Sequence && b.Failed == "" {
				b.Failed = "its rows are not those that were written: the disk or the engine changes them"
			}
		}
	}
	return nil
}

// fromObjects takes batches of public history from the published objects, as far as these have them.
func (r *repairer) fromObjects(ctx context.Context) error {
	if r.stream != schemas.ScanStream {
		return nil
	}
	cfg := r.objects.archiveConfig()
	from, err := archive.Open(ctx, cfg)
	if err != nil {
		return err
	}
	if len(from.Segments()) == 0 {
		return nil
	}
	if err := makeTemp(cfg); err != nil {
		return err
	}
	next := 0
	return from.Batches(ctx, indexer.Bounds(r.commits), func(b *schemas.Batch) error {
		for r.commits[next].Through != b.Through {
			next++
		}
		err := r.Batch(ctx, &r.commits[next], b)
		switch {
		case errors.Is(err, schemas.ErrDiverged): // the objects do not have all of it, or something else
			r.report.Batches[next].Failed = "the published objects do not have it: " + err.Error()
			return nil
		case err != nil:
			return err
		}
		r.report.Batches[next].From, r.report.Batches[next].Failed = "objects", ""
		r.progress.Set(int64(next+1), int64(len(r.commits)))
		return nil
	})
}

// fromUpstream has the upstream of the stream give a batch again.
func (r *repairer) fromUpstream(ctx context.Context, i int) error {
	report := &r.report.Batches[i]
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	taken := false
	sink := &indexer.Announced{
		Batch: &r.commits[i],
		Take:  func(ctx context.Context, b *schemas.Batch) error { return r.Batch(ctx, &r.commits[i], b) },
		Taken: func(err error) { taken = err == nil; end(err) },
	}
	from, err := r.upstream(sink)
	if err != nil {
		return err
	}
	if from == nil {
		if report.Failed == "" {
			report.Failed = "the published objects do not have it, and no upstream of the stream is given"
		}
		return nil
	}
	err = from.identify(within)
	if err == nil && from.stream() != "" && from.stream() != r.stream {
		err = fmt.Errorf("it has stream %s", from.stream())
	}
	if err == nil {
		err = from.Backfill(within)
	}
	switch {
	case taken:
		report.From, report.Failed = "upstream", ""
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		err = errors.New("it did not give the batch")
	}
	report.Failed = "the upstream: " + err.Error()
	return nil
}

// upstream is the source of the stream, which gives what it reads to a sink; nil if there is none.
func (r *repairer) upstream(to stream.Sink) (source, error) {
	cfg := r.p.cfg
	switch {
	case r.stream == schemas.ScanStream && len(cfg.ScanURLs) > 0:
		return r.db.newScanSourceInto(cfg.ScanURLs, r.db.db, to, repairPatience)
	case r.stream != schemas.ScanStream && cfg.NodeURL != "":
		return r.db.newNodeSourceInto(cfg.NodeURL, to, repairPatience)
	}
	return nil, nil
}

// wrongPlaces are the hours in which places are not what the other tables call for.
func (r *repairer) wrongPlaces(ctx context.Context) (hours []audit.WrongPlaces, err error) {
	conn, err := engine.Open(ctx, r.db.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	mark, err := audit.NewReader(r.db.db, r.stream).Watermark(ctx)
	if err != nil || mark == schemas.Start {
		return nil, err
	}
	err = audit.NewQueries(conn, r.stream).WrongPlaces(ctx, mark, func(w audit.WrongPlaces) error {
		if n := len(hours); n == 0 || hours[n-1].MigrationID != w.MigrationID || hours[n-1].From != w.From {
			hours = append(hours, w)
		}
		return nil
	})
	return hours, err
}

// repairPlaces fills wrong places again, neighbouring hours at once.
func (r *repairer) repairPlaces(ctx context.Context) error {
	const hour = schemas.Micros(time.Hour / time.Microsecond)
	mark, err := audit.NewReader(r.db.db, r.stream).Watermark(ctx)
	if err != nil {
		return err
	}
	for {
		wrong, err := r.wrongPlaces(ctx)
		if err != nil || len(wrong) == 0 {
			return err
		}
		if r.report.PlaceHours > 0 && r.report.PlaceHours%1000 != 0 {
			return fmt.Errorf("%w: places at %s are wrong again after they were filled", schemas.ErrDamaged, wrong[0].From)
		}
		r.report.PlaceHours += len(wrong)
		for len(wrong) > 0 {
			n := 1
			for n < len(wrong) && wrong[n].MigrationID == wrong[0].MigrationID && wrong[n].From == wrong[n-1].From+hour {
				n++
			}
			if err := r.Places(ctx, wrong[0].MigrationID, wrong[0].From, wrong[n-1].From+hour, mark); err != nil {
				return err
			}
			wrong = wrong[n:]
		}
	}
}

// findDerived compares what is derived from history with it.
func (r *repairer) findDerived(ctx context.Context) error {
	right, err := r.lifetimesRight(ctx)
	if err != nil {
		return err
	}
	if !right {
		r.report.Derived = append(r.report.Derived, "lifetimes")
	}
	var tables []*verify.Check
	if err := verifyTables(ctx, r.verifier(), &VerifyConfig{Checks: []string{TablesCheck}}, r.stream, &tables); err != nil {
		return err
	}
	if len(tables) > 0 && !tables[0].OK {
		r.report.Derived = append(r.report.Derived, RebuildsTables)
	}
	if err := r.findAnalytics(ctx); err != nil || r.stream == schemas.ScanStream {
		return err
	}
	_, differences, err := wallet.NewAudit(r.db.db, r.stream).Run(ctx)
	if len(differences) > 0 {
		r.report.Derived = append(r.report.Derived, RebuildsWallets)
	}
	return err
}

// findAnalytics compares the movements with history, and the rollups with both.
func (r *repairer) findAnalytics(ctx context.Context) error {
	check, err := r.verifier().verifyMovements(ctx, r.progress, r.stream)
	if err == nil && !check.OK {
		r.report.Derived = append(r.report.Derived, RebuildsMovements)
		return nil // rollups come with them
	}
	if err != nil || r.stream != schemas.ScanStream {
		return err
	}
	check, err = r.verifier().verifyRollups(ctx, r.progress, r.stream)
	if err == nil && !check.OK {
		r.report.Derived = append(r.report.Derived, RebuildsRollups)
	}
	return err
}

func (r *repairer) lifetimesRight(ctx context.Context) (bool, error) {
	reader := audit.NewReader(r.db.db, r.stream)
	mark, err := reader.Watermark(ctx)
	if err != nil || mark == schemas.Start {
		return true, err
	}
	derived, err := reader.ContractsWatermark(ctx)
	if err != nil || derived != mark {
		return true, err // they are only behind
	}
	report, err := r.verifier().verifyStream(ctx, r.progress, verify.Config{
		Source: reader, Checks: []string{verify.Lifetimes}, SkipDigests: true,
	})
	if err != nil {
		return false, err
	}
	return report.Checks[0].OK, nil
}

// repairDerived derives again what differs from history.
func (r *repairer) repairDerived(ctx context.Context) error {
	if err := r.db.deriveLifetimes(ctx, r.stream); errors.Is(err, schemas.ErrDamaged) {
		r.report.Derived = append(r.report.Derived, "lifetimes")
		if err := r.db.rebuildLifetimes(ctx, r.stream); err != nil {
			return fmt.Errorf("deriving the lifetimes of %s again: %w", r.stream, err)
		}
	} else if err != nil {
		return err
	}
	known := len(r.report.Derived)
	if err := r.findDerived(ctx); err != nil {
		return err
	}
	for _, kind := range r.report.Derived[known:] {
		var err error
		switch kind {
		case RebuildsWallets:
			err = r.db.rebuildWallets(ctx, r.stream)
		case RebuildsMovements, RebuildsRollups:
			err = r.db.deriveAnalytics(ctx, r.stream, kind)
		case RebuildsTables:
			err = deriveTypedOf(ctx, r.db, r.stream, r.db.packages.Catalog, true)
		default:
			err = r.db.rebuildLifetimes(ctx, r.stream)
		}
		if err != nil {
			return fmt.Errorf("deriving the %s of %s again: %w", kind, r.stream, err)
		}
	}
	return nil
}
