package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// stretchItems bounds memory: batches are read together up to so many items. Their events
// are read while they are looked at.
const stretchItems = 25_000

// stretches divides commits, which are in order, into runs to be read at once. With apart they are some
// of a journal, and what stands between them is not read.
func stretches(commits []journals.Row, apart bool) [][]journals.Row {
	var list [][]journals.Row
	var items uint64
	start := 0
	for i, c := range commits {
		if i > start && (items+c.Items > stretchItems || apart && commits[i-1].Through != c.After) {
			list = append(list, commits[start:i])
			start, items = i, 0
		}
		items += c.Items
	}
	if start < len(commits) {
		list = append(list, commits[start:])
	}
	return list
}

// outcome is what one stretch has shown.
type outcome struct {
	checks   map[string]*Check // Batches, Hashes and Verdicts, if they are done
	items    int64
	damaged  []journals.Row   // batches that are not as they were committed
	last     schemas.Position // of the last item, imports left out
	segments map[schemas.SegmentRef]Tables
	sums     []audit.LifetimeSum // by bucket, if lifetimes are checked
	coins    []coinUpdate
	runs     []verdictRun // in the order of history

	migrations []int64 // in which there are items, ascending
	updates    bool    // there are some
	begins     bool    // history may begin with the first of them
}

// readHistory reads every row once. Stretches are read side by side and their outcomes are
// taken in the order of history.
func (v *verification) readHistory(ctx context.Context) error {
	list := stretches(v.journal.commits, v.apart)
	group, ctx := guard.WithContext(ctx)
	queue := make(chan chan *outcome, v.cfg.Workers)
	group.Go(func() error {
		defer close(queue)
		workers, ctx := guard.WithContext(ctx)
		workers.SetLimit(v.cfg.Workers)
		for _, commits := range list {
			done := make(chan *outcome, 1)
			select {
			case queue <- done:
			case <-ctx.Done():
				return workers.Wait()
			}
			workers.Go(func() error {
				defer close(done)
				out, err := v.readStretch(ctx, commits)
				if err == nil {
					done <- out
				}
				return err
			})
		}
		return workers.Wait()
	})
	group.Go(func() error {
		read := int64(0)
		for done := range queue {
			out, ok := <-done
			if !ok {
				continue // its error ends the group
			}
			v.take(out)
			read += out.items
			v.cfg.Progress(min(read, v.total), v.total)
		}
		v.report.Items = read
		return nil
	})
	return group.Wait()
}

func (v *verification) take(out *outcome) {
	for name, check := range out.checks {
		v.checks[name].merge(check)
	}
	for ref, tables := range out.segments {
		addTo(v.report.Segments, ref, tables)
	}
	v.damaged = append(v.damaged, out.damaged...)
	if v.last.Before(out.last) {
		v.last = out.last
	}
	for bucket, s := range out.sums {
		t := &v.sums[bucket]
		t.Begins += s.Begins
		t.BeginHash += s.BeginHash
		t.Ends += s.Ends
		t.EndHash += s.EndHash
	}
	v.noteOutcome(out)
	if check := v.checks[Verdicts]; check != nil {
		v.gaps.take(out.runs, check)
	}
	for i := range out.coins {
		v.ledger.apply(&out.coins[i])
	}
}

// readStretch reads the rows of some batches and looks at each once, without texts if they are
// not needed and their events can be read in order so.
func (v *verification) readStretch(ctx context.Context, commits []journals.Row) (*outcome, error) {
	out, err := v.readRows(ctx, commits, !v.cfg.SkipDigests)
	if errors.Is(err, audit.ErrUnordered) {
		return v.readRows(ctx, commits, true)
	}
	return out, err
}

func (v *verification) readRows(ctx context.Context, commits []journals.Row, texts bool) (*outcome, error) {
	rows, err := v.cfg.Source.Stretch(ctx, commits[0].After, commits[len(commits)-1].Through, texts, v.party)
	if err != nil {
		return nil, fmt.Errorf("reading batches %d to %d: %w", commits[0].Sequence, commits[len(commits)-1].Sequence, err)
	}
	defer rows.Close()
	w := &walk{
		verification: v, rows: rows, commits: commits, out: v.newOutcome(),
	}
	if !v.cfg.SkipDigests {
		w.render = new(renderer)
	}
	if v.cfg.has(Lifetimes) {
		w.lifetimes = newLifetimeWalk()
	}
	if v.cfg.has(Coins) {
		w.coins = <-v.coins
		defer func() { v.coins <- w.coins }()
		w.coins.forget()
		w.out.coins = make([]coinUpdate, 0, len(rows.Updates)+len(rows.Imports))
	}
	w.run()
	return w.out, rows.Err()
}

func (v *verification) newOutcome() *outcome {
	out := &outcome{checks: make(map[string]*Check), segments: make(map[schemas.SegmentRef]Tables), last: schemas.Start}
	for _, name := range []string{Batches, Hashes, Verdicts} {
		if v.checks[name] != nil {
			out.checks[name] = NewCheck(name, v.cfg.Findings)
		}
	}
	return out
}

// walk goes through the rows of a stretch in the order of history.
type walk struct {
	*verification
	rows    *audit.Stretch
	commits []journals.Row  // the first is the batch under way
	hash    audit.BatchHash // of the batch under way
	render  *renderer       // nil unless rows are digested
	out     *outcome

	facts     []audit.EventFacts // of the events of the update under way
	lifetimes *lifetimeWalk      // nil unless checked
	coins     *coinReader        // nil unless checked

	// The segment under way and, unless it is that of imports, its record times: from is
	// exclusive.
	segment       schemas.SegmentRef
	from, through schemas.Micros
	items, events uint64 // of the batch under way
	// outside says that what comes next stands before the batch under way, where no batch
	// is; strays counts such items.
	outside bool
	strays  int
}

// run takes imports and then history, migration by migration.
func (w *walk) run() {
	for w.next() {
	}
	for len(w.commits) > 0 {
		w.endBatch()
	}
	w.endSegment()
	if w.lifetimes != nil {
		w.out.sums = w.lifetimes.sums
	}
}

// next takes the item that comes first; false means that there are none left.
func (w *walk) next() bool {
	r := w.rows
	const imported, updated, judged, happened = 0, 1, 2, 3
	first, at := -1, schemas.Position{}
	consider := func(kind int, p schemas.Position) {
		if first < 0 || p.Before(at) {
			first, at = kind, p
		}
	}
	if len(r.Imports) > 0 {
		consider(imported, r.Imports[0].Position())
	}
	if len(r.Updates) > 0 {
		consider(updated, r.Updates[0].Position())
	}
	if len(r.VerdictsAt) > 0 {
		consider(judged, r.VerdictsAt[0])
	}
	if p, ok := r.NextEvents(); ok {
		consider(happened, p)
	}
	if first < 0 {
		return false
	}
	w.enter(at)
	w.facts = nil
	var it schemas.Item
	switch first {
	case imported:
		it.Update = w.nextImport()
	case happened:
		w.orphans(at)
		return true
	default:
		if first == updated {
			it.Update = w.nextUpdate(at)
		}
		judged := len(r.VerdictsAt) > 0 && r.VerdictsAt[0] == at
		w.compareVerdict(it.Update, at, judged, judged && r.Informs[0])
		if judged {
			w.nextVerdict(&it)
		}
	}
	w.item(&it, at)
	return true
}

func (w *walk) nextImport() (u *schemas.Update) {
	r := w.rows
	u, w.facts = &r.Imports[0], r.ImportFacts[:1]
	r.Imports, r.ImportFacts = r.Imports[1:], r.ImportFacts[1:]
	if !w.outside {
		w.hash.AddImports(w.facts[0].Row)
	}
	return u
}

// nextUpdate returns the next update with the events that stand at its position.
func (w *walk) nextUpdate(at schemas.Position) (u *schemas.Update) {
	r := w.rows
	if !w.outside {
		w.hash.AddUpdates(r.UpdateHashes[0])
	}
	u, r.Updates, r.UpdateHashes = &r.Updates[0], r.Updates[1:], r.UpdateHashes[1:]
	if p, ok := r.NextEvents(); !ok || p != at {
		return u
	}
	u.Events, w.facts = r.TakeEvents(), r.EventFacts()
	if !w.outside {
		w.events += uint64(len(u.Events))
		for i := range w.facts {
			w.hash.AddEvents(w.facts[i].Row)
		}
	}
	return u
}

// nextVerdict gives an item its verdict, if that was read with texts.
func (w *walk) nextVerdict(it *schemas.Item) {
	r := w.rows
	if !w.outside {
		w.hash.AddVerdicts(r.VerdictHashes[0])
	}
	r.VerdictsAt, r.VerdictHashes, r.Informs = r.VerdictsAt[1:], r.VerdictHashes[1:], r.Informs[1:]
	if len(r.Verdicts) > 0 {
		v := &r.Verdicts[0]
		it.Verdict, it.Traffic, it.AppActivity, r.Verdicts = v.Verdict, v.Traffic, v.AppActivity, r.Verdicts[1:]
	}
}

// orphans takes the events at a position where there is no update.
func (w *walk) orphans(at schemas.Position) {
	n := len(w.rows.TakeEvents())
	w.events += uint64(n)
	w.add(Batches, Finding{What: "events without their update", Where: where(at), Expected: "an update", Found: fmt.Sprintf("%d events", n)})
}

// where names a position with its update.
func where(p schemas.Position) string { return fmt.Sprintf("update %s, %s", p.UpdateID, p) }

func (w *walk) add(check string, f Finding) {
	if c := w.out.checks[check]; c != nil {
		c.Add(f)
	}
}

// enter ends batches and segments that lie before a position.
func (w *walk) enter(at schemas.Position) {
	for len(w.commits) > 1 && w.commits[0].Through.Before(at) {
		w.endBatch()
	}
	w.outside = len(w.commits) > 0 && !w.commits[0].After.Before(at)
	ref := schemas.SegmentRef{Stream: w.cfg.Source.Stream(), MigrationID: at.MigrationID}
	if at.Offset == 0 && at.RecordTime != schemas.MinMicros {
		// A segment is looked up only when it changes: formatting its time costs.
		if w.segment.MigrationID == at.MigrationID && w.from < at.RecordTime && at.RecordTime <= w.through {
			return
		}
		ref = w.cfg.Segments.Of(w.cfg.Source.Stream(), at.MigrationID, at.RecordTime)
	}
	if ref == w.segment {
		return
	}
	w.endSegment()
	w.segment, w.from, w.through = ref, 0, 0
	if from, through, err := ref.Bounds(); err == nil && !ref.IsImports() {
		w.from, w.through = from, through
	}
}

func (w *walk) item(it *schemas.Item, at schemas.Position) {
	w.out.items++
	if w.outside {
		w.strays++
	} else {
		w.items++
	}
	if at.RecordTime != schemas.MinMicros {
		w.out.last = at
	}
	w.out.noteItem(it.Update, at.MigrationID)
	if u := it.Update; u != nil {
		if u.Kind != schemas.Transaction && u.Reassignment == nil && u.Local == nil {
			w.add(Batches, Finding{What: "an update of unknown kind", Where: where(at), Found: string(u.Kind)})
			u.Reassignment = new(schemas.Reassignment) // it cannot be rendered without
		}
		if u.Kind == schemas.Assignment && len(u.Events) == 0 {
			w.add(Batches, Finding{What: "an assignment without its created event", Where: where(at)})
			u.Events, w.facts = make([]schemas.Event, 1), make([]audit.EventFacts, 1) // it cannot be rendered without
		}
		if w.lifetimes != nil {
			w.lifetimes.update(u, w.facts)
		}
		if w.coins != nil {
			if c, ok := w.coins.update(u, w.facts); ok {
				w.out.coins = append(w.out.coins, c)
			}
		}
	}
	if w.render != nil {
		w.render.item(it)
	}
}

// endBatch compares the batch under way with what it was committed with.
func (w *walk) endBatch() {
	c := w.commits[0]
	w.commits = w.commits[1:]
	name := fmt.Sprintf("batch %d of %s, through %s", c.Sequence, c.Stream, c.Through)
	if w.items != c.Items {
		w.add(Batches, Finding{What: "number of items", Where: name, Expected: fmt.Sprint(c.Items), Found: fmt.Sprint(w.items)})
	}
	if w.events != c.Events {
		w.add(Batches, Finding{What: "number of events", Where: name, Expected: fmt.Sprint(c.Events), Found: fmt.Sprint(w.events)})
	}
	if w.strays > 0 {
		w.add(Batches, Finding{What: "rows that belong to no batch", Where: "before " + name, Expected: "none", Found: fmt.Sprintf("%d items", w.strays)})
		w.strays = 0
	}
	got := w.hash.Sum()
	if got != c.Hash || w.items != c.Items || w.events != c.Events {
		w.out.damaged = append(w.out.damaged, c)
	}
	if got != c.Hash {
		w.add(Hashes, Finding{What: "content", Where: name, Expected: "hash " + c.Hash, Found: "hash " + got})
	}
	w.hash.Reset()
	if check := w.out.checks[Hashes]; check != nil {
		check.Count("batches", 1)
	}
	if check := w.out.checks[Batches]; check != nil {
		check.Count("items", int64(w.items))
		check.Count("events", int64(w.events))
	}
	w.items, w.events = 0, 0
}

// endSegment hands over the digests of the segment under way.
func (w *walk) endSegment() {
	if w.render == nil {
		return
	}
	if tables := w.render.take(); w.segment.Stream != "" {
		addTo(w.out.segments, w.segment, tables)
	}
}
