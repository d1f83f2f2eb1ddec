package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// The operations a Client uses.
const (
	eventsOperation        = "/v0/events"
	updatesOperation       = "/v2/updates"
	migrationInfoOperation = "/v0/backfilling/migration-info"
	updatesBeforeOperation = "/v0/backfilling/updates-before"
	importUpdatesOperation = "/v0/backfilling/import-updates"
	versionOperation       = "/version"
)

// MaxPageItems is the largest page that the interface allows.
const MaxPageItems = 1000

// Page is one answer with a list of items.
type Page struct {
	// Body is the answer as it came, after decompression. Decoded items refer to it:
	// it must not be changed.
	Body   []byte
	decode func([]byte, schemas.Encoding) ([]schemas.Item, error)
	values *values.Catalog
}

// Items decodes the page, in the order in which the upstream gave it, with all values in
// protobuf_json. Errors wrap schemas.ErrMalformed, a panic included: it is the page's.
func (p Page) Items() (items []schemas.Item, err error) {
	if err := guard.Call(func() error { items, err = p.items(); return nil }); err != nil {
		return nil, fmt.Errorf("%w: %w", schemas.ErrMalformed, err)
	}
	return items, err
}

func (p Page) items() ([]schemas.Item, error) {
	items, err := p.decode(p.Body, schemas.ProtobufJSON)
	if err != nil {
		return nil, err
	}
	for i := range items {
		if u := items[i].Update; u != nil {
			if err := inProtobuf(u, p.values); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// MigrationInfo is what an upstream holds of one migration.
type MigrationInfo struct {
	MigrationID int64
	// Previous is the migration before, nil for the first one.
	Previous *int64
	// Ranges has the record times held of each synchronizer, import updates left out.
	Ranges []SynchronizerRange
	// LastImportID is the greatest id of the import updates, "" when there are none.
	LastImportID string
	// Complete means that the upstream has the whole history, of all migrations.
	Complete bool
	// ImportsComplete means the same of the import updates.
	ImportsComplete bool
}

// SynchronizerRange is a span of record times of one synchronizer, both ends inclusive.
type SynchronizerRange struct {
	SynchronizerID string
	Min, Max       schemas.Micros
}

// Span returns the lowest Min and the highest Max of the ranges; ok is false when
// the migration has no history yet.
func (m *MigrationInfo) Span() (from, to schemas.Micros, ok bool) {
	for i, r := range m.Ranges {
		if i == 0 || r.Min < from {
			from = r.Min
		}
		if i == 0 || r.Max > to {
			to = r.Max
		}
	}
	return from, to, len(m.Ranges) > 0
}

// noData reports whether err is the interface's own answer for a migration without
// data, which distinguishes it from the 404 of a server that is not a scan.
func noData(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound && strings.HasPrefix(e.Err.Error(), "No data for migration")
}

// alive returns nil when an operation other than migration-info answers, be it only to
// say that history is not complete yet, else what the upstream said last.
func (c *Client) alive(ctx context.Context) (err error) {
	first := PageRequest{After: schemas.Start, Size: 1, once: true}
	for _, k := range []*call{
		{method: http.MethodGet, operation: versionOperation, once: true},
		first.call(updatesOperation),
		first.call(eventsOperation),
	} {
		var e *Error
		if _, err = c.do(ctx, k); err == nil || errors.As(err, &e) && e.Status == http.StatusServiceUnavailable {
			return nil
		}
		if reason := remote.Ended(ctx); reason != nil {
			return reason
		}
	}
	return err
}

// MigrationInfo asks what the upstream holds of a migration. It is
// schemas.ErrNotFound when the upstream has no data for it.
func (c *Client) MigrationInfo(ctx context.Context, migrationID int64) (*MigrationInfo, error) {
	k := &call{method: http.MethodPost, operation: migrationInfoOperation, body: map[string]int64{"migration_id": migrationID}}
	for tries := 1; ; tries++ {
		answer, err := c.do(ctx, k)
		var e *Error
		if errors.As(err, &e) && e.Status == http.StatusNotFound {
			return nil, fmt.Errorf("migration %d: %w: %w", migrationID, schemas.ErrNotFound, err)
		}
		if err != nil {
			return nil, fmt.Errorf("migration %d: %w", migrationID, err)
		}
		info, err := decodeMigrationInfo(answer)
		if err == nil {
			info.MigrationID = migrationID
			return info, nil
		}
		if tries == malformedTries {
			return nil, &Error{Upstream: c.name, Operation: k.operation, Err: fmt.Errorf("migration %d: %w: %w", migrationID, schemas.ErrMalformed, err)}
		}
		if err := remote.Sleep(ctx, c.cfg.Backoff(tries)); err != nil {
			return nil, err
		}
	}
}

func decodeMigrationInfo(answer []byte) (*MigrationInfo, error) {
	var w struct {
		Previous *int64 `json:"previous_migration_id"`
		Ranges   []struct {
			ID  string `json:"synchronizer_id"`
			Min string `json:"min"`
			Max string `json:"max"`
		} `json:"record_time_range"`
		LastImportID    string `json:"last_import_update_id"`
		Complete        *bool  `json:"complete"`
		ImportsComplete *bool  `json:"import_updates_complete"`
	}
	if err := json.Unmarshal(answer, &w); err != nil {
		return nil, err
	}
	if w.Complete == nil {
		return nil, errors.New("the member \"complete\" is missing")
	}
	info := &MigrationInfo{Previous: w.Previous, LastImportID: w.LastImportID, Complete: *w.Complete, ImportsComplete: *w.Complete}
	if w.ImportsComplete != nil { // older upstreams have but one flag
		info.ImportsComplete = *w.ImportsComplete
	}
	for _, r := range w.Ranges {
		from, err := schemas.ParseTime(r.Min)
		if err != nil {
			return nil, fmt.Errorf("min of %s: %w", r.ID, err)
		}
		to, err := schemas.ParseTime(r.Max)
		if err != nil {
			return nil, fmt.Errorf("max of %s: %w", r.ID, err)
		}
		if to < from {
			return nil, fmt.Errorf("the record times of %s end at %s, before they begin at %s", r.ID, to, from)
		}
		info.Ranges = append(info.Ranges, SynchronizerRange{SynchronizerID: r.ID, Min: from, Max: to})
	}
	return info, nil
}

// PageRequest asks for a page of ascending history.
type PageRequest struct {
	// After is exclusive; only migration and record time count. schemas.Start asks
	// for the beginning.
	After schemas.Position
	// Size is the number of items wanted, 1 to MaxPageItems.
	Size int

	once    bool
	reserve func(int64) error
	expect  int64
}

type pageAfter struct {
	MigrationID int64  `json:"after_migration_id"`
	RecordTime  string `json:"after_record_time"`
}

// pageBody names the encoding in both spellings of the parameter; an upstream
// ignores the one it does not know.
type pageBody struct {
	After    *pageAfter       `json:"after,omitempty"`
	Size     int              `json:"page_size"`
	Encoding schemas.Encoding `json:"daml_value_encoding"`
	Neutral  schemas.Encoding `json:"contract_value_encoding"`
}

func (r *PageRequest) call(operation string) *call {
	body := pageBody{Size: r.Size, Encoding: schemas.ProtobufJSON, Neutral: schemas.ProtobufJSON}
	if r.After != schemas.Start {
		body.After = &pageAfter{MigrationID: r.After.MigrationID, RecordTime: r.After.RecordTime.String()}
	}
	return &call{method: http.MethodPost, operation: operation, cursor: r.After.String(), body: body, once: r.once, reserve: r.reserve, expect: r.expect}
}

// EventsPage asks for items: updates with their verdicts and side data. Fewer than
// asked for means that there are no more at present.
func (c *Client) EventsPage(ctx context.Context, r PageRequest) (Page, error) {
	body, err := c.do(ctx, r.call(eventsOperation))
	return Page{Body: body, decode: schemas.DecodeEvents, values: c.cfg.Values}, err
}

// UpdatesPage asks for updates without verdicts. Fewer than asked for means that
// there are no more at present.
func (c *Client) UpdatesPage(ctx context.Context, r PageRequest) (Page, error) {
	body, err := c.do(ctx, r.call(updatesOperation))
	return Page{Body: body, decode: schemas.DecodeUpdates, values: c.cfg.Values}, err
}

// BeforeRequest asks for one synchronizer's history backwards.
type BeforeRequest struct {
	MigrationID    int64
	SynchronizerID string
	// Before is exclusive, AtOrAfter inclusive.
	Before, AtOrAfter schemas.Micros
	// Count is the number of updates wanted, 1 to MaxPageItems.
	Count int

	reserve func(int64) error
	expect  int64
}

// UpdatesBefore asks for updates with AtOrAfter <= record time < Before, newest
// first. An empty page means that there are none left.
func (c *Client) UpdatesBefore(ctx context.Context, r BeforeRequest) (Page, error) {
	k := &call{
		method: http.MethodPost, operation: updatesBeforeOperation, reserve: r.reserve, expect: r.expect,
		cursor: fmt.Sprintf("(backwards) migration %d before %s", r.MigrationID, r.Before),
		body: struct {
			MigrationID    int64  `json:"migration_id"`
			SynchronizerID string `json:"synchronizer_id"`
			Before         string `json:"before"`
			AtOrAfter      string `json:"at_or_after"`
			Count          int    `json:"count"`
		}{r.MigrationID, r.SynchronizerID, r.Before.String(), r.AtOrAfter.String(), r.Count},
	}
	body, err := c.do(ctx, k)
	return Page{Body: body, decode: schemas.DecodeUpdates, values: c.cfg.Values}, err
}

// ImportsRequest asks for import updates of a migration.
type ImportsRequest struct {
	MigrationID int64
	// AfterUpdateID is exclusive; "" asks for the beginning.
	AfterUpdateID string
	// Limit is the number of updates wanted, 1 to MaxPageItems.
	Limit int

	reserve func(int64) error
	expect  int64
}

// ImportUpdates asks for import updates by ascending update id. Only an empty page
// means that there are none left.
func (c *Client) ImportUpdates(ctx context.Context, r ImportsRequest) (Page, error) {
	k := &call{
		method: http.MethodPost, operation: importUpdatesOperation, reserve: r.reserve, expect: r.expect,
		cursor: schemas.Position{MigrationID: r.MigrationID, RecordTime: schemas.MinMicros, UpdateID: r.AfterUpdateID}.String(),
		body: struct {
			MigrationID   int64  `json:"migration_id"`
			AfterUpdateID string `json:"after_update_id"`
			Limit         int    `json:"limit"`
		}{r.MigrationID, r.AfterUpdateID, r.Limit},
	}
	body, err := c.do(ctx, k)
	return Page{Body: body, decode: schemas.DecodeUpdates, values: c.cfg.Values}, err
}
