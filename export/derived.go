package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// addDerived writes the derived tables of a published segment from the store: the parts, then what
// describes them, then the row that names both. It is safe to repeat. What is under the keys is
// replaced: it depends on the rules of the version that derived it, and nothing lists it.
func (e *Exporter) addDerived(ctx context.Context, ref schemas.SegmentRef) error {
	row, err := e.catalog.LastSegment(ctx, ref)
	if err != nil {
		return err
	}
	m, err := e.catalog.ManifestOf(&row)
	if err != nil {
		return err
	}
	tables, err := writeMovements(ctx, destination{e, ref, func(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte) error {
		return e.publisher.put(ctx, key, body, size, sum, parquetType, true)
	}})
	if err != nil {
		return err
	}
	d := &published.Derived{FormatVersion: schemas.ParquetVersion, Segment: ref, Root: m.Root, Tables: tables}
	data, err := d.Encode()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if err := e.publisher.put(ctx, schemas.DerivedKey(ref), bytes.NewReader(data), int64(len(data)), sum, "application/json", true); err != nil {
		return err
	}
	if err := e.enter(ctx, &row, d); err != nil {
		return err
	}
	e.log.InfoContext(ctx, "exported derived tables", "segment", ref.String(), "rows", d.Table(schemas.ParquetMovements).Rows)
	return nil
}

// writeMovements writes table movements. Those of a segment of imports are what history begins
// with.
func writeMovements(ctx context.Context, d destination) (tables []published.Table, err error) {
	movements := newTableWriter[schemas.MovementRow](d, schemas.ParquetMovements)
	defer func() { err = errors.Join(err, movements.close()) }()
	err = d.exporter.pages.movements(ctx, d.ref, func(ctx context.Context, page []schemas.MovementRow) error {
		for i := range page {
			*movements.row() = page[i]
			movements.AddMovement(&page[i])
			if err := movements.commit(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("writing table movements: %w", err)
	}
	return finishAll(ctx, movements.finish)
}
