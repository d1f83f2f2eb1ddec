package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// sealed is a store whose last day counts as over, so that the network's layout of it
// holds everything that the store holds.
type sealed struct{ *history.Reader }

// Watermark lies behind the day of the last update.
func (s sealed) Watermark(ctx context.Context) (schemas.Position, error) {
	return pastItsDay(s.Reader.Watermark(ctx))
}

// ContractsWatermark lies behind the day of the last update.
func (s sealed) ContractsWatermark(ctx context.Context) (schemas.Position, error) {
	return pastItsDay(s.Reader.ContractsWatermark(ctx))
}

func pastItsDay(p schemas.Position, err error) (schemas.Position, error) {
	p.RecordTime += schemas.Micros((24 * time.Hour).Microseconds())
	return p, err
}

// compacted gives the same history with contract values in compact_json.
type compacted struct {
	export.Source
	catalog *values.Catalog
}

// UpdatePages are those of the source, converted.
func (c *compacted) UpdatePages(ctx context.Context, rg history.Range, page func([]schemas.Update) error) error {
	return c.Source.UpdatePages(ctx, rg, func(updates []schemas.Update) error {
		for i := range updates {
			updates[i].Encoding = schemas.CompactJSON
			for j := range updates[i].Events {
				if err := c.convertEvent(&updates[i].Events[j]); err != nil {
					return err
				}
			}
		}
		return page(updates)
	})
}

// ActivePages are those of the source, converted.
func (c *compacted) ActivePages(ctx context.Context, q history.ActiveQuery, page func([]history.ActiveContract) error) error {
	return c.Source.ActivePages(ctx, q, func(contracts []history.ActiveContract) error {
		for i := range contracts {
			contracts[i].Encoding = schemas.CompactJSON
			if err := c.convertEvent(&contracts[i].Event); err != nil {
				return err
			}
		}
		return page(contracts)
	})
}

// convertEvent fails on a value that the catalogue does not know: its size in
// compact_json would be a guess.
func (c *compacted) convertEvent(e *schemas.Event) (err error) {
	if e.Kind == schemas.Created {
		e.Argument, err = values.AppendCompact(nil, e.Argument, c.catalog.Template(e.PackageName, e.TemplateID))
		if err != nil {
			return fmt.Errorf("arguments of a contract of %s: %w", e.TemplateID, err)
		}
		return nil
	}
	e.Argument, err = values.AppendCompact(nil, e.Argument, c.catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
	if err != nil {
		return fmt.Errorf("argument of choice %s of %s: %w", e.Choice, e.TemplateID, err)
	}
	e.Result, err = values.AppendCompact(nil, e.Result, c.catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
	if err != nil {
		return fmt.Errorf("result of choice %s of %s: %w", e.Choice, e.TemplateID, err)
	}
	return nil
}
