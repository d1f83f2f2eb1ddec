package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// cappedTries is how often a backfill asks for events that the overview has but
	// the operation does not give.
	cappedTries = 5
	// shortTries is the same where nothing may hold history back. The waits between
	// them add up to some two minutes.
	shortTries = 8
)

// readAgain decides what to do when the upstream has nothing beyond the position but
// the overview says that there is history up to record time to. Answers may come from
// replicas that are behind, so it is asked for again, with a fresh overview. It
// reports true when the stream counts as caught up: events end at the last verdict
// while a migration continues, and that may be before the last update.
func (ing *Ingester) readAgain(ctx context.Context, to schemas.Micros, finished bool) (caughtUp bool, err error) {
	capped := ing.view.source == Events && !finished
	if capped && ing.following {
		return true, nil
	}
	ing.short++
	tries := ing.short
	switch {
	case capped && tries > cappedTries:
		ing.log.InfoContext(ctx, "counted as caught up: the overview has later updates, which operation events returns once it has their verdicts",
			"position", ing.at, "overview_through", to, "checks", cappedTries)
		ing.short = 0
		return true, nil
	case capped:
		tries = 1
	case tries > shortTries:
		err := malformed(ing.view.lead.client, ing.view.operation(), ing.start(),
			fmt.Errorf("the history of migration %d ends here, but its overview says that it extends through %s", ing.migration, to))
		if !ing.peers.several() {
			return false, err
		}
		// The others may be right: this one is not asked any more.
		ing.view.lead.exclude(err)
		if ing.peers.tooFewLeft(ing.cfg.Agree) != nil {
			return false, err
		}
		ing.short = 0
	}
	ing.view.chain = nil
	return false, ing.pacer.wait(ctx, tries, fmt.Sprintf("the upstream returns nothing after %s, but its overview has history through %s", ing.start(), to))
}

// importUpdates reads the import updates of the current migration to their end.
func (ing *Ingester) importUpdates(ctx context.Context) error {
	info := ing.view.chain.infos[ing.migration]
	for tries := 1; !info.ImportsComplete && (info.Previous != nil || info.LastImportID != ""); tries++ {
		if err := ing.pacer.wait(ctx, tries, fmt.Sprintf("the upstream is still loading the import updates of migration %d", ing.migration)); err != nil {
			return err
		}
		ing.view.chain = nil
		if err := ing.overview(ctx); err != nil {
			return err
		}
		info = ing.view.chain.infos[ing.migration]
	}
	if info.LastImportID == "" {
		return nil
	}
	for tries := 1; ; tries++ {
		last, err := ing.readImports(ctx)
		if err != nil || ing.at == last {
			return err
		}
		if tries == importTries {
			return malformed(ing.view.lead.client, importUpdatesOperation, ing.start(),
				fmt.Errorf("the import updates of migration %d end at %q, but its overview says %q", ing.migration, ing.start().UpdateID, last.UpdateID))
		}
		// They may have grown since the overview was read.
		reason := fmt.Sprintf("the import updates of migration %d end elsewhere than its overview says", ing.migration)
		if err := ing.pacer.wait(ctx, tries, reason); err != nil {
			return err
		}
		ing.view.chain = nil
		if err := ing.overview(ctx); err != nil {
			return err
		}
	}
}

// importTries is how often the end of the import updates is compared with a fresh
// overview before their difference counts.
const importTries = 4

// readImports reads import updates until there are no more or the last one by the
// overview was read, which it returns.
func (ing *Ingester) readImports(ctx context.Context) (last schemas.Position, err error) {
	ing.status.SetPhase(PhaseImports, "")
	last = schemas.Position{MigrationID: ing.migration, RecordTime: schemas.MinMicros, UpdateID: ing.view.chain.infos[ing.migration].LastImportID}
	t := ing.tracks.imports(ing.migration)
	for ing.at != last {
		end, err := ing.read(ctx, t, "imports", ing.start(), t.position(maxCoordinate), t.coordinate(last))
		if err != nil {
			return last, err
		}
		if end.items == 0 {
			break
		}
	}
	return last, nil
}

// start is where reading of the current migration begins.
func (ing *Ingester) start() schemas.Position {
	if ing.at.MigrationID == ing.migration {
		return ing.at
	}
	return schemas.Position{MigrationID: ing.migration, RecordTime: schemas.MinMicros}
}

// history reads the current migration's history to the upstream's end.
func (ing *Ingester) history(ctx context.Context) (legEnd, error) {
	from, to, known := ing.view.chain.infos[ing.migration].Span()
	start := ing.start()
	h := ing.view.horizon(ing.migration)
	if known && h.clock < to {
		ing.tracks.beyond.saw(beyond{upstream: ing.view.lead.client.Upstream(), operation: migrationInfoOperation, horizon: h,
			at: schemas.Position{MigrationID: ing.migration, RecordTime: to}})
		to = h.clock
	}
	t := ing.tracks.history(ing.migration)
	if ing.view.source != UpdatesBefore {
		last := int64(to)
		if !known {
			last = int64(schemas.MinMicros)
		}
		return ing.readHistory(ctx, t, start, t.position(maxCoordinate), last)
	}
	if !known {
		return legEnd{next: schemas.Start}, nil
	}
	if start.RecordTime < from {
		start = historyBound(ing.migration, int64(from-1))
	}
	if len(ing.view.chain.infos[ing.migration].Ranges) > 1 && start.RecordTime < to {
		// Synchronizers come in independently of each other: what one of them has below
		// the other's end may still be on its way.
		if err := remote.Sleep(ctx, ing.cfg.Poll); err != nil {
			return legEnd{}, err
		}
	}
	return ing.readHistory(ctx, t, start, historyBound(ing.migration, int64(to)), int64(to))
}

func (ing *Ingester) readHistory(ctx context.Context, t track, start, bound schemas.Position, last int64) (legEnd, error) {
	if int64(start.RecordTime) < last {
		ing.status.SetPhase(stream.PhaseHistory, "")
	}
	return ing.read(ctx, t, "history", start, bound, last)
}

// read reads a track and writes what is in it to the sink, batch after batch.
func (ing *Ingester) read(ctx context.Context, t track, kind string, start, bound schemas.Position, last int64) (end legEnd, err error) {
	group, ctx := guard.WithContext(ctx)
	batches := make(chan filled) // one is written, one waits, one is being filled
	l := &leg{
		track: t, pages: ing.tracks.pages[kind], start: start, bound: bound, last: last,
		workers: ing.cfg.Workers, budget: newBudget(ing.cfg.InFlightBytes),
	}
	b := &batcher{
		Batcher: stream.Batcher{Stream: schemas.ScanStream, MaxItems: ing.cfg.BatchItems, MaxBytes: ing.cfg.BatchBytes, After: ing.at},
		out:     batches, apart: kind == "history" && ing.tracks.apart(ing.view.operation()),
	}
	group.Go(func() error {
		for f := range batches {
			if err := ing.write(ctx, f.Batch); err != nil {
				return err
			}
			l.budget.release(f.cost)
		}
		return nil
	})
	group.Go(func() error {
		defer close(batches)
		var err error
		if end, err = l.run(ctx, b.add); err != nil {
			return err
		}
		return b.flush(ctx)
	})
	return end, group.Wait()
}

// write hands a batch to the sink until it is stored.
func (ing *Ingester) write(ctx context.Context, b stream.Batch) error {
	if err := ing.writer.Write(ctx, b); err != nil {
		return err
	}
	ing.at = b.Through
	ing.peers.moved(ing.at, ing.migration)
	ing.tail.moved(b.Batch)
	return nil
}
