package export

import (
	"context"
	"errors"
	"io"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// segmentCheck rebuilds the logical rows of a segment from its objects.
type segmentCheck struct {
	exporter *Exporter
	manifest *Manifest
	meter    *progressMeter
	digests  map[schemas.ParquetTable]*digester
}

// groups are the checks of the segment, for tables that are read together.
func (c *segmentCheck) groups() []func(context.Context) error {
	if c.manifest.Ref().IsImports() {
		return []func(context.Context) error{c.imports}
	}
	return []func(context.Context) error{c.history, c.activeContracts, c.verdicts, c.traffic, c.appActivity}
}

func (c *segmentCheck) digest(table schemas.ParquetTable) *digester {
	if c.digests[table] == nil {
		c.digests[table] = new(digester)
	}
	return c.digests[table]
}

func (c *segmentCheck) table(name schemas.ParquetTable) Table {
	for _, t := range c.manifest.Tables {
		if t.Name == name {
			return t
		}
	}
	return Table{Name: name}
}

// eachRow calls each with all rows of a table in order.
func eachRow[T any, R rowOf[T]](ctx context.Context, c *segmentCheck, table schemas.ParquetTable, each func(R, *digester)) (err error) {
	rows := newTableReader[T, R](c.exporter, c.table(table), c.meter)
	defer func() { err = errors.Join(err, rows.close()) }()
	sum := c.digest(table)
	for {
		row, err := rows.row(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(row, sum)
	}
}

// history joins updates with their events, which have the same order.
func (c *segmentCheck) history(ctx context.Context) (err error) {
	updates := newTableReader[schemas.UpdateRow](c.exporter, c.table(schemas.ParquetUpdates), c.meter)
	events := newTableReader[schemas.EventRow](c.exporter, c.table(schemas.ParquetEvents), c.meter)
	defer func() { err = errors.Join(err, updates.close(), events.close()) }()
	var mine []schemas.EventRow
	for {
		row, err := updates.row(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		mine = mine[:0]
		for range row.EventCount {
			event, err := events.row(ctx)
			if errors.Is(err, io.EOF) {
				return mismatchf("events of update %s are missing from segment %s", row.UpdateID, c.manifest.Ref())
			}
			if err != nil {
				return err
			}
			mine = append(mine, *event)
		}
		u, err := row.Update(mine)
		if err != nil {
			return mismatch{err}
		}
		c.digest(schemas.ParquetUpdates).addUpdate(&u)
		c.digest(schemas.ParquetEvents).addEvents(&u)
	}
	if event, err := events.row(ctx); err == nil {
		return mismatchf("event %d of update %s belongs to no update of segment %s", event.Node, event.UpdateID, c.manifest.Ref())
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (c *segmentCheck) imports(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetImports, func(r *schemas.ImportRow, sum *digester) {
		u := r.Update()
		sum.addImport(&u)
	})
}

func (c *segmentCheck) activeContracts(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetACS, func(r *schemas.ActiveContractRow, sum *digester) {
		e := r.Event()
		sum.addActiveContract(&e)
	})
}

func (c *segmentCheck) verdicts(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetVerdicts, func(r *schemas.VerdictRow, sum *digester) {
		v := r.Verdict()
		sum.addVerdict(&v)
	})
}

func (c *segmentCheck) traffic(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetTraffic, func(r *schemas.TrafficRow, sum *digester) {
		t := r.Traffic()
		sum.addTraffic(r.UpdateID, &t)
	})
}

func (c *segmentCheck) appActivity(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetAppActivity, func(r *schemas.AppActivityRow, sum *digester) {
		a := r.AppActivity()
		sum.addAppActivity(r.UpdateID, &a)
	})
}
