package export

import (
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// writeTables puts all objects of a segment into the bucket and returns its manifest.
// Tables that come from the same reading of the source are written together; such
// groups run side by side, as many as there are workers for all segments.
func (e *Exporter) writeTables(ctx context.Context, ref schemas.SegmentRef, overwrite bool) (*published.Manifest, error) {
	manifest, err := published.NewManifest(ref, e.cfg.Layout)
	if err != nil {
		return nil, err
	}
	d := destination{e, ref, func(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte) error {
		return e.publisher.PutPart(ctx, key, body, size, sum, parquetType, overwrite)
	}}
	groups := []func(context.Context, destination) ([]published.Table, error){writeHistory, writeActiveContracts, writeVerdicts}
	if ref.IsImports() {
		groups = groups[:0]
		groups = append(groups, writeImports)
	}
	tables := make([][]published.Table, len(groups))
	running, ctx := guard.WithContext(ctx)
	running.SetLimit(e.cfg.Workers)
	for i, write := range groups {
		running.Go(func() (err error) {
			select {
			case e.workers <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-e.workers }()
			tables[i], err = write(ctx, d)
			return err
		})
	}
	if err := running.Wait(); err != nil {
		return nil, err
	}
	for _, written := range tables {
		manifest.Tables = append(manifest.Tables, written...)
	}
	root, err := manifest.ComputeRoot()
	manifest.Root = hex.EncodeToString(root[:])
	return manifest, err
}

// bounds are the positions after and up to which a segment has history.
func bounds(ref schemas.SegmentRef) (after, through schemas.Position, err error) {
	start, end, err := ref.Bounds()
	return schemas.EndOf(ref.MigrationID, start), schemas.EndOf(ref.MigrationID, end), err
}

// writeHistory writes tables updates and events.
func writeHistory(ctx context.Context, d destination) (tables []published.Table, err error) {
	after, through, err := bounds(d.ref)
	if err != nil {
		return nil, err
	}
	updates := newTableWriter[schemas.UpdateRow](d, schemas.ParquetUpdates)
	events := newTableWriter[schemas.EventRow](d, schemas.ParquetEvents)
	defer func() { err = errors.Join(err, updates.close(), events.close()) }()
	// The digests cost about as much as the rest, and need nothing of it.
	side, within := guard.WithContext(ctx)
	toSum := make(chan []schemas.Update, pagesToSum)
	side.Go(func() error {
		for page := range toSum {
			for i := range page {
				published.AddHistory(&updates.Digester, &events.Digester, &page[i])
			}
		}
		return nil
	})
	side.Go(func() error {
		defer close(toSum)
		return d.exporter.pages.Updates(within, after, through, func(ctx context.Context, page []schemas.Update) error {
			for i := range page {
				if err := page[i].CheckShape(); err != nil {
					return err
				}
			}
			toSum <- page
			return writeUpdates(ctx, updates, events, page)
		})
	})
	if err := side.Wait(); err != nil {
		return nil, err
	}
	return finishAll(ctx, updates.finish, events.finish)
}

// pagesToSum is how far writing may be ahead of digests: a page that fills a row group takes
// many times as long as others.
const pagesToSum = 2

func writeUpdates(ctx context.Context, updates *tableWriter[schemas.UpdateRow, *schemas.UpdateRow],
	events *tableWriter[schemas.EventRow, *schemas.EventRow], page []schemas.Update) error {
	for i := range page {
		if err := updates.row().Set(&page[i]); err != nil {
			return err
		}
		if err := updates.commit(ctx); err != nil {
			return err
		}
		if err := writeEvents(ctx, events, &page[i]); err != nil {
			return err
		}
	}
	return nil
}

func writeEvents(ctx context.Context, events *tableWriter[schemas.EventRow, *schemas.EventRow], u *schemas.Update) error {
	if u.Kind != schemas.Transaction {
		events.row().SetReassignment(u)
		return events.commit(ctx)
	}
	for i := range u.Events {
		events.row().SetEvent(u, i)
		if err := events.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeVerdicts writes tables verdicts, traffic and app_activity.
func writeVerdicts(ctx context.Context, d destination) (tables []published.Table, err error) {
	after, through, err := bounds(d.ref)
	if err != nil {
		return nil, err
	}
	verdicts := newTableWriter[schemas.VerdictRow](d, schemas.ParquetVerdicts)
	traffic := newTableWriter[schemas.TrafficRow](d, schemas.ParquetTraffic)
	activity := newTableWriter[schemas.AppActivityRow](d, schemas.ParquetAppActivity)
	defer func() { err = errors.Join(err, verdicts.close(), traffic.close(), activity.close()) }()
	writeItem := func(ctx context.Context, it *schemas.Item) error {
		verdicts.row().Set(it.Verdict)
		verdicts.AddVerdict(it.Verdict)
		if err := verdicts.commit(ctx); err != nil {
			return err
		}
		if it.Traffic != nil {
			traffic.row().Set(it.Verdict, it.Traffic)
			traffic.AddTraffic(it.Verdict.UpdateID, it.Traffic)
			if err := traffic.commit(ctx); err != nil {
				return err
			}
		}
		if it.AppActivity == nil {
			return nil
		}
		activity.row().Set(it.Verdict, it.AppActivity)
		activity.AddAppActivity(it.Verdict.UpdateID, it.AppActivity)
		return activity.commit(ctx)
	}
	err = d.exporter.pages.verdicts(ctx, after, through, func(ctx context.Context, page []schemas.Item) error {
		for i := range page {
			if err := writeItem(ctx, &page[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return finishAll(ctx, verdicts.finish, traffic.finish, activity.finish)
}

// writeActiveContracts writes table acs: the contracts that are active at the segment's start.
// In the first segment of a migration these are its imports.
func writeActiveContracts(ctx context.Context, d destination) (tables []published.Table, err error) {
	start, _, err := d.ref.Bounds()
	if err != nil {
		return nil, err
	}
	contracts := newTableWriter[schemas.ActiveContractRow](d, schemas.ParquetACS)
	defer func() { err = errors.Join(err, contracts.close()) }()
	err = d.exporter.pages.Contracts(ctx, d.ref.MigrationID, start, func(ctx context.Context, page []history.ActiveContract) error {
		for i := range page {
			contracts.row().Set(d.ref.MigrationID, start, &page[i].Event, page[i].Encoding)
			contracts.AddActiveContract(&page[i].Event)
			if err := contracts.commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return finishAll(ctx, contracts.finish)
}

// writeImports writes table imports.
func writeImports(ctx context.Context, d destination) (tables []published.Table, err error) {
	imports := newTableWriter[schemas.ImportRow](d, schemas.ParquetImports)
	defer func() { err = errors.Join(err, imports.close()) }()
	err = d.exporter.pages.imports(ctx, d.ref.MigrationID, func(ctx context.Context, page []schemas.Update) error {
		for i := range page {
			if err := imports.row().Set(&page[i]); err != nil {
				return err
			}
			imports.AddImport(&page[i])
			if err := imports.commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return finishAll(ctx, imports.finish)
}

// finishAll ends the writers in order and collects their tables.
func finishAll(ctx context.Context, finish ...func(context.Context) (published.Table, error)) ([]published.Table, error) {
	var tables []published.Table
	for _, f := range finish {
		table, err := f(ctx)
		if err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	return tables, nil
}
