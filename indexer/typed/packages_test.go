package typed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// notes are a template of an application in two versions: the second has a field more, and a constructor.
func notes(version int) []values.Definition {
	scalar := values.Scalar
	kind := values.Variant(values.Field{Label: "Plain", Type: scalar(values.KindText)})
	fields := []values.Field{
		{Label: "owner", Type: scalar(values.KindParty)}, {Label: "order", Type: values.Numeric(2)}, {Label: "kind", Type: kind},
		{Label: "tags", Type: values.TextMap(scalar(values.KindParty))}, {Label: "readers", Type: values.List(values.Optional(scalar(values.KindParty)))},
		{Label: "due", Type: values.Optional(scalar(values.KindDate))}, {Label: "by", Type: values.Optional(scalar(values.KindParty))},
	}
	if version > 1 {
		kind.Fields = append(kind.Fields, values.Field{Label: "Rich", Type: values.Record(values.Field{Label: "at", Type: values.Optional(scalar(values.KindTimestamp))})})
		fields = append(fields, values.Field{Label: "rank", Type: values.Optional(scalar(values.KindInt64))})
	}
	edit := values.Choice{Argument: values.Record(values.Field{Label: "from", Type: scalar(values.KindText)}), Result: scalar(values.KindContractID)}
	return []values.Definition{
		{Entry: values.Entry{PackageName: "acme-notes", Entity: "Acme.Api:Note"}, Record: values.Record(fields...), Choices: map[string]values.Choice{"select": edit}},
		{Entry: values.Entry{PackageName: "acme_notes", Entity: "Acme.Api:Note"}, Record: values.Record(fields[0])},
	}
}

const (
	plainNote = `{"record":{"fields":[{"value":{"party":"alice::12"}},{"value":{"numeric":"-1.50"}},{"value":{"variant":{"constructor":"Plain","value":{"text":"x"}}}},` +
		`{"value":{"textMap":{"entries":[{"key":"a","value":{"party":"bob::12"}}]}}},` +
		`{"value":{"list":{"elements":[{"optional":{"value":{"party":"bob::12"}}},{"optional":{}},{"optional":{"value":{"party":""}}}]}}},` +
		`{"value":{"optional":{"value":{"date":20640}}}},{"value":{"optional":{"value":{"party":""}}}}]}}`
	richNote = `{"record":{"fields":[{"value":{"party":"bob::12"}},{"value":{"numeric":"2"}},{"value":{"variant":{"constructor":"Rich","value":{"record":{"fields":[{"value":{"optional":{"value":{"timestamp":"1783245600000000"}}}}]}}}}},` +
		`{"value":{"textMap":{}}},{"value":{"list":{}}},{"value":{"optional":{}}},{"value":{"optional":{}}},{"value":{"optional":{"value":{"int64":"7"}}}}]}}`
)

// noteItem is a transaction that creates a note, edits it, and archives it at once if its number is odd.
func noteItem(n int, packageName, payload string) schemas.Item {
	at := schemas.Micros(1783245600000000 + int64(n)*1e6)
	id := fmt.Sprintf("1220aabb%02d", n)
	event := func(node int32, kind schemas.EventKind) schemas.Event {
		return schemas.Event{EventID: fmt.Sprintf("%s:%d", id, node), Node: node, Kind: kind, ContractID: fmt.Sprintf("00ab%02d", n), TemplateID: "0a:Acme.Api:Note", PackageName: packageName}
	}
	created, edited, archived := event(0, schemas.Created), event(1, schemas.Exercised), event(2, schemas.Exercised)
	created.Argument, created.CreatedAt, created.Signatories = []byte(payload), at, []string{"alice::12"}
	edited.Choice, edited.ActingParties = "select", []string{"alice::12"}
	edited.Argument, edited.Result = []byte(`{"record":{"fields":[{"value":{"text":"y"}}]}}`), []byte(`{"contractId":"00cd"}`)
	archived.Choice, archived.Consuming, archived.ActingParties = "Archive", true, []string{"alice::12"}
	archived.Argument, archived.Result = []byte(`{"record":{}}`), []byte(`{"unit":{}}`)
	u := &schemas.Update{
		Kind: schemas.Transaction, SynchronizerID: "sync::1220", RecordTime: at, UpdateID: id, Encoding: schemas.ProtobufJSON,
		EffectiveAt: at, RootEvents: []int32{0, 1}, Events: []schemas.Event{created, edited},
	}
	if n%2 == 1 {
		u.RootEvents, u.Events = append(u.RootEvents, 2), append(u.Events, archived)
	}
	return schemas.Item{Update: u}
}

// TestTablesOfAPackage adds a package while its stream is followed, then a later version, whose values came
// before it, and then takes it away and adds it again.
func TestTablesOfAPackage(t *testing.T) {
	f := newFixture(t)
	var items []schemas.Item
	for n := range 8 {
		items = append(items, noteItem(n, "acme-notes", []string{plainNote, richNote}[n/4]))
	}
	items = append(items, noteItem(8, "acme_notes", `{"record":{"fields":[{"value":{"party":"carol::12"}}]}}`))
	batches := indexertest.ScanBatches(items, 3)
	catalog := values.Default().Learning()
	d := f.typed(catalog)
	f.write(t, batches[0])
	f.catchUp(t, d)
	if _, err := NewTables(f.db, catalog).Add(t.Context(), []string{"acme-notes"}); err == nil || !strings.Contains(err.Error(), `there is no package, template or choice "acme-notes"`) {
		t.Errorf("a package that is not there: %v", err)
	}
	catalog.Learn(notes(1), 1)
	tables := f.add(t, catalog, "acme-notes", "acme_notes")
	if want := []string{"t_acme_notes__acme_api_note", "c_acme_notes__acme_api_note__select"}; len(tables) != 3 || !slices.Equal(tables[:2], want) || !strings.HasPrefix(tables[2], want[0]+"_") {
		t.Fatalf("made tables %q", tables)
	}
	rows := func(columns string) []string {
		return indexertest.Texts(t, f.DSN, "SELECT concat("+columns+") FROM t_acme_notes__acme_api_note ORDER BY _record_time")
	}
	check := func(when, columns string, want ...string) {
		t.Helper()
		if got := rows(columns); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", when, got, want)
		}
	}
	f.catchUp(t, d)
	const columns = "owner, ' ', toString(`order`), ' ', kind__tag, ' ', ifNull(kind__Plain, '-'), ' ', toString(tags), ' ', toString(readers), ' ', toString(due), ' ', toString(by IS NULL), ' ', toString(_transient), ' ', left(_unfit, 9)"
	plain := func(transient int) string {
		return fmt.Sprintf("alice::12 -1.5 Plain x {'a':'bob::12'} ['bob::12',NULL,''] 2026-07-06 0 %t ", transient == 1)
	}
	check("filled", columns, plain(0), plain(1), plain(0))
	f.write(t, batches[1:]...)
	f.catchUp(t, d)
	const short = "owner, ' ', kind__tag, ' ', left(_unfit, 9)"
	plainRow, unfitRow, richRow := "alice::12 Plain ", `  {"record"`, "bob::12 Rich "
	check("with values of a later version", short, plainRow, plainRow, plainRow, plainRow, unfitRow, unfitRow, unfitRow, unfitRow)
	catalog.Learn(notes(2), 2)
	f.catchUp(t, d)
	check("with the later version", short, plainRow, plainRow, plainRow, plainRow, richRow, richRow, richRow, richRow)
	check("its columns", "toString(rank IS NULL), ' ', ifNull(toString(kind__Rich__at), '-')", "1 -", "1 -", "1 -", "1 -", "0 2026-07-05 10:00:00.000000", "0 2026-07-05 10:00:00.000000", "0 2026-07-05 10:00:00.000000", "0 2026-07-05 10:00:00.000000")
	if got := indexertest.Texts(t, f.DSN, "SELECT concat(arg__from, ' ', res, ' ', toString(count())) FROM c_acme_notes__acme_api_note__select GROUP BY arg__from, res"); !slices.Equal(got, []string{"y 00cd 8"}) {
		t.Errorf("exercises are %q", got)
	}
	if got := indexertest.Texts(t, f.DSN, "SELECT owner FROM "+tables[2]); !slices.Equal(got, []string{"carol::12"}) {
		t.Errorf("the table with the same name has %q", got)
	}

	// Without its package a table keeps the values as JSON, and has them in columns once it is there again.
	catalog.Learn(nil, 0)
	more := noteItem(9, "acme-notes", plainNote)
	f.write(t, indexertest.ScanBatches(append(items, more), 3)[3:]...)
	f.catchUp(t, d)
	if got := rows("_unfit"); got[len(got)-1] != plainNote {
		t.Errorf("without the package a value is %s", got[len(got)-1])
	}
	catalog.Learn(notes(2), 3)
	f.catchUp(t, d)
	check("with the package again", short, plainRow, plainRow, plainRow, plainRow, richRow, richRow, richRow, richRow, plainRow)

	catalog.Learn(nil, 4)
	dropped, err := NewTables(f.db, catalog).DropUnknown(t.Context())
	if err != nil || len(dropped) != 3 {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	f.catchUp(t, d)
	if left := indexertest.Texts(t, f.DSN, "SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, '^[tcl]_')"); len(left) > 0 {
		t.Errorf("tables %q are left", left)
	}
}

// TestTooManyTables asks for more tables than there may be: none is made.
func TestTooManyTables(t *testing.T) {
	f := newFixture(t)
	catalog := values.Default().Learning()
	var many []values.Definition
	for n := range 10_000 {
		many = append(many, values.Definition{Entry: values.Entry{PackageName: "acme-many", Entity: fmt.Sprintf("M:T%d", n)}, Record: values.Record()})
	}
	catalog.Learn(many, 1)
	tables := NewTables(f.db, catalog)
	if _, err := tables.Add(t.Context(), []string{"acme-many"}); err == nil || !strings.Contains(err.Error(), "there would be 10000 typed tables, and there may be 1000") {
		t.Errorf("10,000 templates: %v", err)
	}
	if list, err := tables.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("there are %d tables, %v", len(list), err)
	}
	if _, err := tables.Drop(t.Context(), []string{"t_none"}); err == nil || !strings.Contains(err.Error(), `there is no typed table "t_none"`) {
		t.Errorf("a table that is not there: %v", err)
	}
}
