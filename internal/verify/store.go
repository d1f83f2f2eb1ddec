package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Tables are digests by table name: updates, events, imports, verdicts, traffic,
// app_activity, and a set of active contracts under active_contracts or acs. The
// rows behind each are the canonical JSON that the network's interface gives for them.
type Tables map[string]schemas.Digest

// Source is the part of a history reader that verification needs.
type Source interface {
	Stream() string
	Watermark(ctx context.Context) (schemas.Position, error)
	ContractsWatermark(ctx context.Context) (schemas.Position, error)
	Updates(ctx context.Context, rg history.Range) ([]schemas.Update, error)
	Verdicts(ctx context.Context, rg history.Range) ([]schemas.Item, error)
	Imports(ctx context.Context, migrationID int64, afterUpdateID string, limit int) ([]schemas.Update, error)
	ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error)
}

// Report is what a store holds, whole and by segment.
type Report struct {
	// Total covers everything; its active_contracts are those at the watermark.
	Total Tables
	// Segments split the tables of Total, without active contracts, by segment.
	Segments map[schemas.SegmentRef]Tables
}

// pageRows bounds memory: so many updates are held at a time by each reader.
const pageRows = 2000

// Store digests everything that src holds up to its watermark. progress is called
// with the number of updates read so far; it may be nil.
func Store(ctx context.Context, src Source, progress func(updates int64)) (*Report, error) {
	if progress == nil {
		progress = func(int64) {}
	}
	mark, err := src.Watermark(ctx)
	if err != nil {
		return nil, err
	}
	contracts, err := src.ContractsWatermark(ctx)
	if err != nil {
		return nil, err
	}
	if contracts != mark {
		return nil, fmt.Errorf("contract lifetimes stand at %s, history at %s: let ingest finish first", contracts, mark)
	}
	d := &digester{src: src, mark: mark, segments: make(map[schemas.SegmentRef]Tables)}
	var active schemas.Digest
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return d.readUpdates(groupCtx, progress) })
	group.Go(func() error { return d.readVerdicts(groupCtx) })
	group.Go(func() error { return d.readImports(groupCtx) })
	group.Go(func() (err error) {
		if mark != schemas.Start {
			active, err = ActiveAt(groupCtx, src, mark.MigrationID, mark.RecordTime)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("digesting the store: %w", err)
	}
	report := &Report{Total: Sum(slices.Collect(maps.Values(d.segments))...), Segments: d.segments}
	report.Total["active_contracts"] = active
	return report, nil
}

// Sum merges the digests of disjoint sets of rows. Every table of history is in the
// result, also when empty.
func Sum(parts ...Tables) Tables {
	sum := Tables{"updates": {}, "events": {}, "imports": {}, "verdicts": {}, "traffic": {}, "app_activity": {}}
	for _, part := range parts {
		for table, digest := range part {
			merged := sum[table]
			merged.Merge(digest)
			sum[table] = merged
		}
	}
	return sum
}

// digester gathers the digests of segments from readers that run side by side.
type digester struct {
	src  Source
	mark schemas.Position

	mu       sync.Mutex
	segments map[schemas.SegmentRef]Tables
}

func (d *digester) add(ref schemas.SegmentRef, tables Tables) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.segments[ref] == nil {
		d.segments[ref] = make(Tables)
	}
	for table, digest := range tables {
		merged := d.segments[ref][table]
		merged.Merge(digest)
		d.segments[ref][table] = merged
	}
}

func (d *digester) readUpdates(ctx context.Context, progress func(int64)) error {
	var buf []byte
	read, after := int64(0), schemas.Start
	for {
		page, err := d.src.Updates(ctx, history.Range{After: after, Through: d.mark, Limit: pageRows})
		if err != nil {
			return err
		}
		for ref, run := range runs(d.src.Stream(), page, (*schemas.Update).Position) {
			var updates, events schemas.Digest
			for i := range run {
				buf = AddUpdate(&updates, &events, &run[i], buf)
			}
			d.add(ref, Tables{"updates": updates, "events": events})
		}
		read += int64(len(page))
		progress(read)
		if len(page) < pageRows {
			return nil
		}
		after = page[len(page)-1].Position()
	}
}

// runs splits a page, which is in history order, at segment borders.
func runs[T any](stream string, page []T, position func(*T) schemas.Position) func(yield func(schemas.SegmentRef, []T) bool) {
	segment := func(i int) schemas.SegmentRef {
		p := position(&page[i])
		return schemas.DaySegment(stream, p.MigrationID, p.RecordTime)
	}
	return func(yield func(schemas.SegmentRef, []T) bool) {
		for start := 0; start < len(page); {
			ref, end := segment(start), start+1
			for end < len(page) && segment(end) == ref {
				end++
			}
			if !yield(ref, page[start:end]) {
				return
			}
			start = end
		}
	}
}

// AddUpdate adds u to the digest of updates and its events to that of events. It
// returns buf for the next call.
func AddUpdate(updates, events *schemas.Digest, u *schemas.Update, buf []byte) []byte {
	buf = schemas.AppendUpdate(buf[:0], u, schemas.UpdateForm{})
	updates.Add(buf)
	if u.Kind != schemas.Transaction {
		buf = schemas.AppendReassignmentEvent(buf[:0], u)
		events.Add(buf)
		return buf
	}
	for i := range u.Events {
		buf = schemas.AppendEvent(buf[:0], u, &u.Events[i])
		events.Add(buf)
	}
	return buf
}

func (d *digester) readVerdicts(ctx context.Context) error {
	var buf []byte
	after := schemas.Start
	for {
		page, err := d.src.Verdicts(ctx, history.Range{After: after, Through: d.mark, Limit: pageRows})
		if err != nil {
			return err
		}
		for ref, run := range runs(d.src.Stream(), page, (*schemas.Item).Position) {
			var verdicts, traffic, appActivity schemas.Digest
			for i := range run {
				buf = addVerdict(&verdicts, &traffic, &appActivity, &run[i], buf)
			}
			d.add(ref, Tables{"verdicts": verdicts, "traffic": traffic, "app_activity": appActivity})
		}
		if len(page) < pageRows {
			return nil
		}
		after = page[len(page)-1].Position()
	}
}

func addVerdict(verdicts, traffic, appActivity *schemas.Digest, it *schemas.Item, buf []byte) []byte {
	buf = schemas.AppendVerdict(buf[:0], it.Verdict)
	verdicts.Add(buf)
	if it.Traffic != nil {
		buf = schemas.AppendTrafficRow(buf[:0], it.Verdict.UpdateID, it.Traffic)
		traffic.Add(buf)
	}
	if it.AppActivity != nil {
		buf = schemas.AppendAppActivityRow(buf[:0], it.Verdict.UpdateID, it.AppActivity)
		appActivity.Add(buf)
	}
	return buf
}

func (d *digester) readImports(ctx context.Context) error {
	var buf []byte
	for m := int64(0); m <= d.mark.MigrationID; m++ {
		var imports schemas.Digest
		for after := ""; ; {
			page, err := d.src.Imports(ctx, m, after, pageRows)
			if err != nil {
				return err
			}
			for i := range page {
				buf = schemas.AppendUpdate(buf[:0], &page[i], schemas.UpdateForm{WithOffset: true})
				imports.Add(buf)
			}
			if len(page) < pageRows {
				break
			}
			after = page[len(page)-1].UpdateID
		}
		d.add(schemas.SegmentRef{Stream: d.src.Stream(), MigrationID: m}, Tables{"imports": imports})
	}
	return nil
}

// ActiveAt digests the set of contracts that is active at an instant of a migration.
func ActiveAt(ctx context.Context, src Source, migrationID int64, at schemas.Micros) (schemas.Digest, error) {
	var active schemas.Digest
	var buf []byte
	q := history.ActiveQuery{MigrationID: migrationID, At: at, Limit: pageRows}
	for {
		page, err := src.ActiveContracts(ctx, q)
		if err != nil {
			return active, err
		}
		for i := range page {
			buf = schemas.AppendActiveContract(buf[:0], &page[i].Event, "", schemas.StoredValues{})
			active.Add(buf)
		}
		if len(page) < pageRows {
			return active, nil
		}
		last := &page[len(page)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
}

// Differences lists, in words, where two sets of tables differ; none means equal.
// Only tables that both name are compared.
func Differences(aName string, a Tables, bName string, b Tables) []string {
	var list []string
	for _, table := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[table]; ok && other != a[table] {
			list = append(list, fmt.Sprintf("table %s: %s has %s, %s has %s", table, aName, a[table], bName, other))
		}
	}
	return list
}
