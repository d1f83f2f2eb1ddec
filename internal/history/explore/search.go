package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// FoundUpdate is an update, or a verdict without one, that a search found.
type FoundUpdate struct {
	UpdateID   string
	Kind       schemas.UpdateKind // "" for a verdict
	RecordTime schemas.Micros
	Hash       string // of its external transaction, "" for none
}

// FoundContract is a contract that a search found.
type FoundContract struct {
	ContractID, Template string
	CreatedAt            schemas.Micros
}

// ByPrefix are the newest updates, verdicts and contracts whose ids begin with some text, of each kind at most
// limit.
type ByPrefix struct {
	Updates   []FoundUpdate
	Contracts []FoundContract
}

type updateRow struct {
	UpdateID   string         `column:"update_id"`
	Kind       string         `column:"found_kind,low"`
	RecordTime schemas.Micros `column:"record_time"`
	Hash       string         `column:"hash"`
}

type verdictRow struct {
	UpdateID   string         `column:"update_id"`
	RecordTime schemas.Micros `column:"record_time"`
}

type contractRow struct {
	ContractID string         `column:"contract_id"`
	Template   string         `column:"template_of,low"`
	CreatedAt  schemas.Micros `column:"created_at"`
}

type nameRow struct {
	Name string `column:"name,low"`
}

type templateRow struct {
	Package    string `column:"package,low"`
	TemplateID string `column:"template_of,low"`
}

// IDs looks for ids that begin with some text. Ids are in no order, so it looks through the newest part of the
// newest migration alone: some 400,000 updates, and 60 ms.
func (r *Reader) IDs(ctx context.Context, prefix string, limit int) (found ByPrefix, err error) {
	watermark, err := r.history.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return found, err
	}
	params := func(table string) store.Params {
		return store.Params{
			"stream": store.Text(r.stream), "migration": store.Int(watermark.MigrationID), "until_time": store.Time(store.Clamp(watermark.RecordTime)),
			"prefix": store.Text(prefix), "limit": store.Int(int64(limit)), "table": table,
		}
	}
	var updates []updateRow
	var verdicts []verdictRow
	var live, ended []contractRow
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		updates, err = store.SelectAll(ctx, r.db, query("updates_by_prefix"), params("updates"), store.NewRecords[updateRow]())
		return err
	})
	group.Go(func() (err error) {
		verdicts, err = store.SelectAll(ctx, r.db, query("verdicts_by_prefix"), params("verdicts"), store.NewRecords[verdictRow]())
		return err
	})
	group.Go(func() (err error) {
		live, err = store.SelectAll(ctx, r.db, query("contracts_by_prefix"), params("contracts_live"), store.NewRecords[contractRow]())
		return err
	})
	group.Go(func() (err error) {
		ended, err = store.SelectAll(ctx, r.db, query("contracts_by_prefix"), params("contracts_archived"), store.NewRecords[contractRow]())
		return err
	})
	if err := group.Wait(); err != nil {
		return found, fmt.Errorf("looking for ids that begin with %.80q: %w", prefix, err)
	}
	return byPrefix(updates, verdicts, append(live, ended...), limit), nil
}

// byPrefix joins what was found; a contract may be found twice while it is moved.
func byPrefix(updates []updateRow, verdicts []verdictRow, contracts []contractRow, limit int) (found ByPrefix) {
	known := map[string]bool{}
	for _, u := range updates {
		known[u.UpdateID] = true
		found.Updates = append(found.Updates, FoundUpdate{u.UpdateID, schemas.UpdateKind(u.Kind), u.RecordTime, u.Hash})
	}
	for _, v := range verdicts {
		if !known[v.UpdateID] && len(found.Updates) < limit {
			found.Updates = append(found.Updates, FoundUpdate{UpdateID: v.UpdateID, RecordTime: v.RecordTime})
		}
	}
	for _, c := range contracts {
		if !known[c.ContractID] && len(found.Contracts) < limit {
			known[c.ContractID] = true
			found.Contracts = append(found.Contracts, FoundContract(c))
		}
	}
	return found
}

// actorsFor is how far back a search for parties looks that have never held coins.
const actorsFor = schemas.Micros(48 * time.Hour / time.Microsecond)

// Parties returns parties whose id begins with some text, at most limit: those that have ever held coins, and those
// that were active lately.
func (r *Reader) Parties(ctx context.Context, prefix string, limit int) ([]string, error) {
	watermark, err := r.history.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return nil, err
	}
	params := store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(watermark.MigrationID), "after_time": store.Time(store.Clamp(watermark.RecordTime - actorsFor)),
		"prefix": store.Text(prefix), "beyond": store.Text(prefix + schemas.MaxUpdateID), "limit": store.Int(int64(limit)),
	}
	var names []string
	for _, name := range []string{"holders_by_prefix", "movers_by_prefix", "actors_by_prefix"} {
		rows, err := store.SelectAll(ctx, r.db, query(name), params, store.NewRecords[nameRow]())
		if err != nil {
			return nil, fmt.Errorf("looking for parties that begin with %.80q: %w", prefix, err)
		}
		for _, row := range rows {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), limit)], nil
}

// HasParty reports whether an event of public history names a party as signatory, observer or actor.
func (r *Reader) HasParty(ctx context.Context, party string) (bool, error) {
	key := strconv.FormatUint(store.PlaceKey(r.stream, store.ByParty, party), 10)
	found, _, err := store.SelectOne(ctx, r.db, query("party_known"), store.Params{"key": key}, store.NewRecords[store.Count]())
	if err != nil {
		return false, fmt.Errorf("looking for party %.80q: %w", party, err)
	}
	return found.N > 0, nil
}

// HasContract reports whether public history has a contract.
func (r *Reader) HasContract(ctx context.Context, contractID string) (bool, error) {
	watermark, err := r.history.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return false, err
	}
	steps, err := r.history.ContractHistory(ctx, history.ContractQuery{ContractID: contractID, After: schemas.Start, AfterNode: -1, Through: watermark, WithoutExercises: true, Limit: 1})
	return len(steps) > 0, err
}

// templatesFresh is how long the list of templates is taken for new: it rarely changes.
const templatesFresh = 30 * time.Second

// readTemplates reads the names of all templates that events have.
func (r *Reader) readTemplates(ctx context.Context) ([]string, error) {
	rows, err := store.SelectAll(ctx, r.db, query("templates"), store.Params{"stream": store.Text(r.stream)}, store.NewRecords[templateRow]())
	if err != nil {
		return nil, fmt.Errorf("reading the templates of history: %w", err)
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = schemas.TemplateName(row.Package, row.TemplateID)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Templates returns the names PACKAGE:Module:Entity that have some text in them, in any case, at most limit.
func (r *Reader) Templates(ctx context.Context, part string, limit int) (found []string, err error) {
	all, err := r.templates.Get(ctx)
	if err != nil {
		return nil, err
	}
	part = strings.ToLower(part)
	for _, name := range all {
		if strings.Contains(strings.ToLower(name), part) && len(found) < limit {
			found = append(found, name)
		}
	}
	return found, nil
}
