package analytics

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/ledgerlake/ledgerlake/indexer"
	derivedtyped "github.com/ledgerlake/ledgerlake/indexer/typed"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const (
	typedContracts = "t_package__mod_t"
	typedEnds      = "l_package__mod_t"
	typedExercises = "c_package__mod_t__do"
)

// applicationCatalog knows the template of private.write, with a part of each type that a typed table has.
func applicationCatalog() *values.Catalog {
	scalar, optional := values.Scalar, values.Optional
	field := func(label string, of *values.Type) values.Field { return values.Field{Label: label, Type: of} }
	owner := field("owner", scalar(values.KindParty))
	catalog := values.Default().Learning()
	catalog.Learn([]values.Definition{{
		Entry: values.Entry{PackageName: "package", Entity: "Mod:T"},
		Record: values.Record(owner, field("amount", optional(values.Numeric(10))), field("rate", optional(values.Numeric(2))), field("due", optional(scalar(values.KindDate))),
			field("at", optional(scalar(values.KindTimestamp))), field("limit", optional(scalar(values.KindInt64))), field("tags", optional(values.TextMap(scalar(values.KindParty)))),
			field("readers", optional(values.List(optional(scalar(values.KindText))))), field("twice", optional(optional(scalar(values.KindText)))), field("open", optional(scalar(values.KindBool)))),
		Choices: map[string]values.Choice{"Do": {Argument: values.Record(owner), Result: values.Record()}},
	}}, 1)
	return catalog
}

// writePublic stores two updates of public history, each of which creates a contract.
func (p *private) writePublic() {
	p.Helper()
	b := &schemas.Batch{Stream: schemas.ScanStream, After: schemas.Start}
	for i, argument := range []string{
		`{"amount":"1.5000000000","at":"2026-07-01T10:00:00.5Z","due":"2026-07-02","limit":"7","open":true,"owner":"alice::1220","rate":"-0.25","readers":["x",null],"tags":{"a":"bob::1220"},"twice":["y"]}`,
		`{"owner":"bob::1220"}`,
	} {
		id := fmt.Sprintf("1220%064x", i)
		u := &schemas.Update{
			Kind: schemas.Transaction, SynchronizerID: "sync::1220", RecordTime: schematest.FirstTime + schemas.Micros(i), UpdateID: id, Encoding: schemas.CompactJSON,
			EffectiveAt: schematest.FirstTime, RootEvents: []int32{0}, Events: []schemas.Event{{
				EventID: schemas.EventID(id, 0), Kind: schemas.Created, ContractID: fmt.Sprintf("00%0136x", i), TemplateID: "pkg:Mod:T", PackageName: "package",
				Argument: []byte(argument), Signatories: []string{"alice::1220"}, CreatedAt: schematest.FirstTime,
			}},
		}
		b.Items, b.Through = append(b.Items, schemas.Item{Update: u}), u.Position()
	}
	if err := indexer.NewWriter(p.db, schemas.ScanStream, slog.New(slog.DiscardHandler)).Write(p.Context(), b); err != nil {
		p.Fatal(err)
	}
}

// Typed tables and the views over them appear while they are served, with the rights of readers of a node's
// stream, and go again.
func TestTypedTables(t *testing.T) {
	p := newPrivate(t)
	p.write(5)
	p.writePublic()
	api := New(Config{Open: Public(tables.NewReader(p.db, schemas.ScanStream)), Prefixes: PublicPrefixes, TokenKey: []byte("a key of some length, for tests.")})
	w := &world{T: t, server: querytest.Serve(t, query.Config{Mounts: []query.Mount{api.Mount()}}), doc: p.doc}
	if status, _ := p.get("auditor", "tables/"+typedContracts); status != http.StatusNotFound {
		t.Fatalf("a table that nobody has added: %d", status)
	}
	catalog := applicationCatalog()
	typedTables := derivedtyped.NewTables(p.db, catalog)
	if _, err := typedTables.Add(t.Context(), append(typedviews.Names(), "package:Mod:T")); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{schemas.ScanStream, nodeStream} {
		if err := derivedtyped.New(p.db, stream, catalog, time.Millisecond, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the table is there", func() bool { status, _ := p.get("auditor", "tables/"+typedContracts); return status == http.StatusOK })
	p.typedRights()
	w.typedValues()
	w.typedFilters()
	for _, name := range typedviews.Names() {
		if rows := w.all(name); len(rows) > 0 {
			t.Errorf("view %s has rows of nothing: %v", name, rows)
		}
		if status, _ := p.get("auditor", "tables/"+name); status != http.StatusOK {
			t.Errorf("view %s of a node's stream: %d", name, status)
		}
		if status, _ := p.get("both", "tables/"+name); status != http.StatusNotFound {
			t.Errorf("view %s tells parties of rows that they need not see: %d", name, status)
		}
	}
	if _, err := typedTables.Drop(t.Context(), []string{typedExercises}); err != nil {
		t.Fatal(err)
	}
	if status, body := p.get("auditor", "tables/"+typedExercises); status != http.StatusNotFound {
		t.Errorf("a dropped table: %d %s", status, body)
	}
}

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

func (p *private) typedRights() {
	p.Helper()
	for _, c := range []struct {
		user, table string
		want        int
	}{
		{"auditor", typedContracts, 15}, {"alice", typedContracts, 10}, {"both", typedContracts, 15},
		{"alice", typedEnds, 10}, {"both", typedEnds, 15},
		{"auditor", typedExercises, 5}, {"alice", typedExercises, 0}, {"both", typedExercises, 5},
	} {
		rows := p.rows(c.user, c.table, "limit", "4", "order", "desc").Rows
		if more := p.rows(c.user, c.table, "limit", "1000"); len(more.Rows) != c.want || more.CompleteTo.Offset != p.end || len(rows) != min(4, c.want) {
			p.Errorf("%s has %d rows of %s up to %d, not %d", c.user, len(more.Rows), c.table, more.CompleteTo.Offset, c.want)
		}
		for _, row := range rows {
			_, told := row["_witnesses"]
			if told != (c.user == "auditor" && c.table == typedExercises) {
				p.Errorf("%s gets witnesses: %v", c.user, told)
			}
			if c.user == "alice" && !slices.Contains(row["_signatories"].([]any), any("alice::1220")) {
				p.Errorf("alice sees %v", row)
			}
		}
	}
	if status, body := p.get("alice", "tables/"+typedExercises, "filter", `"bob::1220" in _witnesses`); status != http.StatusBadRequest {
		p.Errorf("alice may ask for witnesses: %d %s", status, body)
	}
}

// typedValues are the same in all forms.
func (w *world) typedValues() {
	w.Helper()
	want := map[string]any{
		"owner": "alice::1220", "amount": "1.5000000000", "rate": "-0.2500000000", "due": "2026-07-02", "at": "2026-07-01T10:00:00.500000Z", "limit": 7.0,
		"tags__present": true, "tags": map[string]any{"a": "bob::1220"}, "readers__present": true, "readers": []any{"x", nil}, "twice__json": []any{"y"}, "open": true, "_unfit": nil,
	}
	none := map[string]any{
		"owner": "bob::1220", "amount": nil, "rate": nil, "due": nil, "at": nil, "limit": nil, "tags__present": false, "tags": map[string]any{},
		"readers__present": false, "readers": []any{}, "twice__json": nil, "open": nil, "_unfit": nil,
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	columns := []string{"columns", strings.Join(names, ",")}
	if got := w.all(typedContracts, append(columns, "limit", "1")...); !reflect.DeepEqual(got, []map[string]any{want, none}) {
		w.Errorf("rows are\n%v, want\n%v", got, want)
	}
	_, text, _ := w.get("tables/"+typedContracts, append(columns, "format", "csv")...)
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(records) != 3 || !slices.Equal(records[0], names) {
		w.Fatalf("CSV has %q, %v", records, err)
	}
	_, stream, _ := w.get("tables/"+typedContracts, append(columns, "format", "arrow")...)
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		w.Fatal(err)
	}
	defer r.Release()
	batch, err := r.Read()
	if err != nil || batch.NumRows() != 2 {
		w.Fatal(err)
	}
	arrows := map[string]string{ // where text differs from that of JSON
		"amount": "1.5", "rate": "-0.25", "at": "2026-07-01T10:00:00.5Z", "tags": `[{"key":"a","value":"bob::1220"}]`, "readers": `["x",null]`, "twice__json": `["y"]`,
	}
	for j, name := range names {
		row, _ := json.Marshal(want[name])
		text := strings.Trim(string(row), `"`)
		if want[name] == nil {
			text = ""
		}
		if records[1][j] != text {
			w.Errorf("%s is %q in CSV, not %q", name, records[1][j], text)
		}
		if other, ok := arrows[name]; ok {
			text = other
		}
		if got := batch.Column(j).ValueStr(0); got != text {
			w.Errorf("%s is %q in Arrow, not %q", name, got, text)
		}
		if none[name] == nil && name != "_unfit" && !batch.Column(j).IsNull(1) {
			w.Errorf("%s is %q in Arrow, not null", name, batch.Column(j).ValueStr(1))
		}
	}
}

func (w *world) typedFilters() {
	w.Helper()
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"amount.gt", "1.4", 1}, {"amount.lt", "1.5", 0}, {"rate", "-0.25", 1}, {"due.in", "2026-07-01,2026-07-02", 1}, {"due.null", "true", 1}, {"limit.eq", "7", 1},
		{"readers.has", "x", 1}, {"owner.prefix", "bob", 1}, {"open.ne", "false", 1}, {"_record_time.ge", "2020-01-01T00:00:00Z", 2},
		{"filter", `due >= date("2026-07-02") && rate < 0 && readers.exists(r, r == null)`, 1},
		{"filter", `tags__present || amount == null`, 2},
	} {
		if rows := w.all(typedContracts, c.name, c.value); len(rows) != c.want {
			w.Errorf("%s %s: %d rows, want %d", c.name, c.value, len(rows), c.want)
		}
	}
	if status, body, _ := w.get("tables/"+typedContracts, "tags", "x"); status != http.StatusBadRequest {
		w.Errorf("a map is compared: %d %s", status, body)
	}
}
