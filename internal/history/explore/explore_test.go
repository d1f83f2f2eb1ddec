package explore_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	derived "github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is a random history with migrations, reassignments and rejected transactions.
type world struct {
	*testing.T
	items  []schemas.Item // without imports, the newest first
	reader *explore.Reader
	db     *store.DB
	total  int // movements
}

func newWorld(t *testing.T) *world {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	log := slog.New(slog.DiscardHandler)
	w := &world{T: t, db: db, reader: explore.NewReader(db, history.NewReader(db, schemas.ScanStream))}
	writer, after := indexer.NewWriter(db, schemas.ScanStream, log), schemas.Start
	for items := schematest.New(schematest.Config{Seed: 5, Items: 80, Migrations: 2}).Items; len(items) > 0; {
		imports := func(i int) bool { return items[i].Position().RecordTime == schemas.MinMicros }
		n := 1
		for n < len(items) && items[n].Position().MigrationID == items[0].Position().MigrationID && imports(n) == imports(0) {
			n++
		}
		through := items[n-1].Position()
		if err := writer.Write(t.Context(), &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through, Items: items[:n]}); err != nil {
			t.Fatal(err)
		}
		if !imports(0) {
			w.items = append(w.items, items[:n]...)
		}
		after, items = through, items[n:]
	}
	for _, catchUp := range []func(context.Context) error{
		indexer.NewLifetimes(db, schemas.ScanStream, 0, log).CatchUp,
		derived.NewMovements(db, schemas.ScanStream, values.Default(), 0, log).CatchUp,
		derived.NewRollups(db, schemas.ScanStream, 0, log).CatchUp,
	} {
		if err := catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(w.items)
	return w
}

func TestExplore(t *testing.T) {
	w := newWorld(t)
	w.feeds()
	w.neighbours()
	w.ids()
	w.names()
	w.movements()
}

// feeds reads lists with filters, page by page and both ways.
func (w *world) feeds() {
	w.Helper()
	first := w.items[len(w.items)-1].Position()
	middle := w.items[len(w.items)/2].Position()
	one := int64(1)
	for name, c := range map[string]struct {
		filter explore.Filter
		want   func(*schemas.Item) bool
	}{
		"all":              {explore.Filter{}, isUpdate},
		"of a migration":   {explore.Filter{Migration: &one}, func(it *schemas.Item) bool { return isUpdate(it) && it.Update.MigrationID == 1 }},
		"assignments":      {explore.Filter{Kind: schemas.Assignment}, func(it *schemas.Item) bool { return isUpdate(it) && it.Update.Kind == schemas.Assignment }},
		"up to an instant": {explore.Filter{To: middle.RecordTime}, func(it *schemas.Item) bool { return isUpdate(it) && it.Update.RecordTime <= middle.RecordTime }},
		"from an instant":  {explore.Filter{From: middle.RecordTime}, func(it *schemas.Item) bool { return isUpdate(it) && it.Update.RecordTime >= middle.RecordTime }},
		"the first alone":  {explore.Filter{To: first.RecordTime}, func(it *schemas.Item) bool { return isUpdate(it) && it.Update.RecordTime <= first.RecordTime }},
		"of a party":       {explore.Filter{Party: schematest.Party("party", 2)}, has(func(e *schemas.Event) bool { return of(e, schematest.Party("party", 2)) })},
		"assignments of a party": {explore.Filter{Party: schematest.Party("party", 2), Kind: schemas.Assignment}, func(it *schemas.Item) bool {
			return isUpdate(it) && it.Update.Kind == schemas.Assignment && has(func(e *schemas.Event) bool { return of(e, schematest.Party("party", 2)) })(it)
		}},
		"of a choice":   {explore.Filter{Choice: "Choose"}, has(func(e *schemas.Event) bool { return e.Choice == "Choose" })},
		"of a template": {explore.Filter{Template: w.template()}, has(func(e *schemas.Event) bool { return schemas.TemplateName(e.PackageName, e.TemplateID) == w.template() })},
		"of an entity": {explore.Filter{Template: w.template()[strings.LastIndexByte(w.template(), ':')+1:]}, has(func(e *schemas.Event) bool {
			return strings.HasSuffix(e.TemplateID, w.template()[strings.LastIndexByte(w.template(), ':'):])
		})},
		"assignments by template": {explore.Filter{Template: w.template(), Kind: schemas.Assignment}, func(it *schemas.Item) bool {
			return isUpdate(it) && it.Update.Kind == schemas.Assignment && has(func(e *schemas.Event) bool { return schemas.TemplateName(e.PackageName, e.TemplateID) == w.template() })(it)
		}},
		"of an unknown choice": {explore.Filter{Choice: "'; DROP TABLE updates"}, func(*schemas.Item) bool { return false }},
		"of an unknown party":  {explore.Filter{Party: "nobody::1220"}, func(*schemas.Item) bool { return false }},
		"rejected": {explore.Filter{Rejected: true}, func(it *schemas.Item) bool {
			return it.Verdict != nil && it.Verdict.Result == "VERDICT_RESULT_REJECTED"
		}},
	} {
		if c.filter.To == 0 {
			c.filter.To = schemas.MaxMicros
		}
		if c.filter.From == 0 {
			c.filter.From = schemas.MinMicros
		}
		var want []string
		for i := range w.items {
			if c.want(&w.items[i]) {
				want = append(want, w.items[i].Position().UpdateID)
			}
		}
		if len(want) == 0 && !strings.HasPrefix(name, "of an unknown") {
			w.Errorf("%s: history has none", name)
		}
		for _, limit := range []int{20, 1000} {
			if got := w.older(c.filter, limit); !slices.Equal(got, want) {
				w.Errorf("%s, %d at a time from the newest on: %d updates, want %d", name, limit, len(got), len(want))
			}
			if got := w.newer(c.filter, limit); !slices.Equal(got, want) {
				w.Errorf("%s, %d at a time from the oldest on: %d updates, want %d", name, limit, len(got), len(want))
			}
		}
	}
}

// older reads from the newest on.
func (w *world) older(f explore.Filter, limit int) (ids []string) {
	for at := (explore.Cursor{}); ; {
		feed, err := w.reader.Updates(w.Context(), f, at, limit)
		if err != nil {
			w.Fatal(err)
		}
		if feed.Newer != (at.Before != nil) || feed.Reached != nil || len(feed.Rows) > limit {
			w.Errorf("a page before %v of %d rows: %v, %v", at.Before, len(feed.Rows), feed.Newer, feed.Reached)
		}
		for i := range feed.Rows {
			w.row(&feed.Rows[i])
			ids = append(ids, feed.Rows[i].UpdateID)
		}
		if !feed.Older {
			return ids
		}
		at.Before = &feed.Rows[len(feed.Rows)-1].Position
	}
}

// newer reads from the oldest on.
func (w *world) newer(f explore.Filter, limit int) (ids []string) {
	for at := (explore.Cursor{After: &schemas.Start}); ; {
		feed, err := w.reader.Updates(w.Context(), f, at, limit)
		if err != nil {
			w.Fatal(err)
		}
		for i := len(feed.Rows) - 1; i >= 0; i-- {
			ids = append(ids, feed.Rows[i].UpdateID)
		}
		if !feed.Newer {
			slices.Reverse(ids)
			return ids
		}
		at.After = &feed.Rows[0].Position
	}
}

// row compares what a list shows with the item.
func (w *world) row(row *explore.Row) {
	w.Helper()
	i := slices.IndexFunc(w.items, func(it schemas.Item) bool { return it.Position() == row.Position })
	if i < 0 {
		w.Fatalf("history has no update at %s", row.Position)
	}
	it := w.items[i]
	if it.Verdict != nil && row.Result != it.Verdict.Result || it.Update != nil && (row.Kind != it.Update.Kind || int(row.Roots) != len(it.Update.RootEvents)) {
		w.Fatalf("update %s is shown as %+v", row.UpdateID, row)
	}
	if it.Update == nil {
		return
	}
	for j, e := range row.Events {
		of := &it.Update.Events[j]
		if e.Node != of.Node || e.Kind != of.Kind || e.Choice != of.Choice || e.Template != schemas.TemplateName(of.PackageName, of.TemplateID) || e.Kind == schemas.Created && e.ContractID != "" && e.ContractID != of.ContractID {
			w.Fatalf("event %d of update %s is shown as %+v", j, row.UpdateID, e)
		}
	}
	if len(row.Events) != min(len(it.Update.Events), 12) {
		w.Fatalf("update %s is shown with %d events, it has %d", row.UpdateID, len(row.Events), len(it.Update.Events))
	}
}

// template is that of the first event.
func (w *world) template() string {
	for i := range w.items {
		if isUpdate(&w.items[i]) && w.items[i].Update.Kind == schemas.Assignment {
			return schemas.TemplateName(w.items[i].Update.Events[0].PackageName, w.items[i].Update.Events[0].TemplateID)
		}
	}
	w.Fatal("there are no assignments")
	return ""
}

func isUpdate(it *schemas.Item) bool { return it.Update != nil }

func has(wanted func(*schemas.Event) bool) func(*schemas.Item) bool {
	return func(it *schemas.Item) bool {
		return isUpdate(it) && slices.ContainsFunc(it.Update.Events, func(e schemas.Event) bool { return wanted(&e) })
	}
}

func of(e *schemas.Event, party string) bool {
	return slices.Contains(e.Signatories, party) || slices.Contains(e.Observers, party) || slices.Contains(e.ActingParties, party)
}

// neighbours are the updates beside each one of its migration.
func (w *world) neighbours() {
	w.Helper()
	var updates []schemas.Position
	for i := range w.items {
		if isUpdate(&w.items[i]) {
			updates = append(updates, w.items[i].Position())
		}
	}
	for i := 0; i < len(updates); i += 9 {
		before, after, err := w.reader.Neighbours(w.Context(), updates[i])
		if err != nil {
			w.Fatal(err)
		}
		want := func(j int) string {
			if j < 0 || j == len(updates) || updates[j].MigrationID != updates[i].MigrationID {
				return ""
			}
			return updates[j].UpdateID
		}
		if before != want(i+1) || after != want(i-1) {
			w.Errorf("beside %s are %q and %q, want %q and %q", updates[i], before, after, want(i+1), want(i-1))
		}
	}
}

// ids are found by how they begin.
func (w *world) ids() {
	w.Helper()
	for i := range w.items {
		id := w.items[i].Position().UpdateID
		if w.items[i].Position().MigrationID != 1 || i%7 > 0 {
			continue
		}
		found, err := w.reader.IDs(w.Context(), id[:12], 5)
		if err != nil {
			w.Fatal(err)
		}
		if len(found.Updates) != 1 || found.Updates[0].UpdateID != id || (found.Updates[0].Kind == "") != (w.items[i].Update == nil) {
			w.Errorf("%s finds %+v", id[:12], found)
		}
		if w.items[i].Update == nil || w.items[i].Update.Kind == schemas.Unassignment || w.items[i].Update.Events[0].Kind != schemas.Created {
			continue
		}
		contract := w.items[i].Update.Events[0].ContractID
		if known, err := w.reader.HasContract(w.Context(), contract); err != nil || !known {
			w.Errorf("contract %s is not known: %v", contract, err)
		}
	}
	if found, err := w.reader.IDs(w.Context(), "00", 5); err != nil || len(found.Contracts) != 5 {
		w.Errorf("00 finds %d contracts: %v", len(found.Contracts), err)
	}
	if found, err := w.reader.IDs(w.Context(), "zz%' OR 1", 5); err != nil || len(found.Contracts)+len(found.Updates) > 0 {
		w.Errorf("nonsense finds %+v: %v", found, err)
	}
	if known, err := w.reader.HasContract(w.Context(), "00nothing"); err != nil || known {
		w.Errorf("a contract that is not there: %v %v", known, err)
	}
}

// names are those of parties and templates.
func (w *world) names() {
	w.Helper()
	party := schematest.Party("party", 2)
	for prefix, want := range map[string]bool{"party2": true, party: true, "party2::1220": true, "nobody": false, "party2%": false} {
		if found, err := w.reader.Parties(w.Context(), prefix, 5); err != nil || slices.Contains(found, party) != want || len(found) > 5 {
			w.Errorf("parties like %q: %q %v", prefix, found, err)
		}
	}
	for name, want := range map[string]bool{party: true, "nobody::1220": false} {
		if known, err := w.reader.HasParty(w.Context(), name); err != nil || known != want {
			w.Errorf("party %s: %v %v", name, known, err)
		}
	}
	entity := w.template()[strings.LastIndexByte(w.template(), ':')+1:]
	if found, err := w.reader.Templates(w.Context(), strings.ToUpper(entity), 50); err != nil || !slices.Contains(found, w.template()) {
		w.Errorf("templates like %q: %q %v", entity, found, err)
	}
	if found, err := w.reader.Templates(w.Context(), "<script>", 50); err != nil || len(found) > 0 {
		w.Errorf("templates like a script: %q %v", found, err)
	}
}

// movements are those of updates, and there are none of others.
func (w *world) movements() {
	w.Helper()
	for i := range w.items {
		if !isUpdate(&w.items[i]) {
			continue
		}
		list, derived, err := w.reader.MovementsOf(w.Context(), w.items[i].Position(), 100)
		if err != nil || !derived {
			w.Fatalf("movements of %s: %v %v", w.items[i].Position(), derived, err)
		}
		w.total += len(list)
	}
	all, _, err := store.SelectOne(w.Context(), w.db, "SELECT count() AS n FROM movements WHERE source != 'opening'", nil, store.NewRecords[store.Count]())
	if err != nil || int(all.N) != w.total {
		w.Errorf("updates have %d movements, and the store %d: %v", w.total, all.N, err)
	}
}
