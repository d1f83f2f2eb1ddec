package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// segmentCheck rebuilds the logical rows of a segment from its objects.
type segmentCheck struct {
	parts    Parts
	manifest *published.Manifest
	beside   Beside
	onPart   func(bytes int64)
	digests  map[schemas.ParquetTable]*published.Digester
}

// Beside are the objects beside those of a segment's manifest, nil for none.
type Beside struct {
	Lookups *published.LookupIndex
	Derived *published.Derived
}

// CheckSegment reads the objects of a segment and compares them with its manifest, its
// lookup objects, if there are any, with both, and those of derived tables with what describes
// them. It returns the digests over the rows found, by
// table name, and what is wrong with the objects. onPart is called with the size of each object
// that was fetched.
func CheckSegment(ctx context.Context, parts Parts, m *published.Manifest, beside Beside, onPart func(bytes int64)) (digests map[string]schemas.Digest, findings []string, err error) {
	c := segmentCheck{parts: parts, manifest: m, beside: beside, onPart: onPart, digests: make(map[schemas.ParquetTable]*published.Digester)}
	for _, group := range c.groups() {
		var wrong published.Mismatch
		if err := group(ctx); errors.As(err, &wrong) {
			findings = append(findings, err.Error())
		} else if err != nil {
			return nil, nil, err
		}
	}
	digests = make(map[string]schemas.Digest, len(m.Tables))
	for _, t := range c.tables() {
		digests[string(t.Name)] = c.digest(t.Name).Sum
		if finding := c.digest(t.Name).Compare(t); finding != "" {
			findings = append(findings, fmt.Sprintf("segment %s: %s", m.Ref(), finding))
		}
	}
	return digests, findings, nil
}

// tables are those that are checked.
func (c *segmentCheck) tables() []published.Table {
	if c.beside.Derived == nil {
		return c.manifest.Tables
	}
	return slices.Concat(c.manifest.Tables, c.beside.Derived.Tables)
}

// groups are the checks of the segment, for tables that are read together.
func (c *segmentCheck) groups() []func(context.Context) error {
	if c.manifest.Ref().IsImports() {
		return []func(context.Context) error{c.imports, c.movements}
	}
	return []func(context.Context) error{c.history, c.activeContracts, c.verdicts, c.traffic, c.appActivity, c.movements}
}

func (c *segmentCheck) digest(table schemas.ParquetTable) *published.Digester {
	if c.digests[table] == nil {
		c.digests[table] = new(published.Digester)
	}
	return c.digests[table]
}

// eachRow calls each with all rows of a table in order.
func eachRow[T any, R published.RowOf[T]](ctx context.Context, c *segmentCheck, table schemas.ParquetTable, each func(R, *published.Digester) error) (err error) {
	rows := newTableReader[T, R](c.parts, published.TableOf(c.tables(), table), c.onPart)
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
		if err := each(row, sum); err != nil {
			return err
		}
	}
}

func (c *segmentCheck) history(ctx context.Context) (err error) {
	updates, lookup := newUpdateReader(c.parts, c.manifest, c.onPart), newLookupCheck(c)
	defer func() { err = errors.Join(err, updates.close(), lookup.close()) }()
	for {
		u, err := updates.next(ctx)
		if errors.Is(err, io.EOF) {
			return lookup.finish()
		}
		if err != nil {
			return err
		}
		row := published.AddHistory(c.digest(schemas.ParquetUpdates), c.digest(schemas.ParquetEvents), u)
		if err := lookup.compare(ctx, u, row); err != nil {
			return err
		}
	}
}

func (c *segmentCheck) imports(ctx context.Context) (err error) {
	lookup := newLookupCheck(c)
	defer func() { err = errors.Join(err, lookup.close()) }()
	err = eachRow(ctx, c, schemas.ParquetImports, func(r *schemas.ImportRow, sum *published.Digester) error {
		u := r.Update()
		return lookup.compare(ctx, &u, sum.AddImport(&u))
	})
	if err != nil {
		return err
	}
	return lookup.finish()
}

func (c *segmentCheck) activeContracts(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetACS, func(r *schemas.ActiveContractRow, sum *published.Digester) error {
		e := r.Event()
		sum.AddActiveContract(&e)
		return nil
	})
}

func (c *segmentCheck) verdicts(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetVerdicts, func(r *schemas.VerdictRow, sum *published.Digester) error {
		v := r.Verdict()
		sum.AddVerdict(&v)
		return nil
	})
}

func (c *segmentCheck) traffic(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetTraffic, func(r *schemas.TrafficRow, sum *published.Digester) error {
		t := r.Traffic()
		sum.AddTraffic(r.UpdateID, &t)
		return nil
	})
}

func (c *segmentCheck) appActivity(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetAppActivity, func(r *schemas.AppActivityRow, sum *published.Digester) error {
		a := r.AppActivity()
		sum.AddAppActivity(r.UpdateID, &a)
		return nil
	})
}

func (c *segmentCheck) movements(ctx context.Context) error {
	return eachRow(ctx, c, schemas.ParquetMovements, func(r *schemas.MovementRow, sum *published.Digester) error {
		sum.AddMovement(r)
		return nil
	})
}
