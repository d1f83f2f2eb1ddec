package app

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	"github.com/ledgerlake/ledgerlake/internal/packages/kept"
	"github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// tradeUpdate is a transaction of an application's own template, with values by position.
func tradeUpdate() schemas.Item {
	const id, at = "1220aabb", 1783245600000000
	return schemas.Item{Update: &schemas.Update{
		Kind: schemas.Transaction, MigrationID: 0, SynchronizerID: "sync::1220", RecordTime: at, UpdateID: id, Encoding: schemas.ProtobufJSON,
		EffectiveAt: at, RootEvents: []int32{0, 1},
		Events: []schemas.Event{{
			EventID: id + ":0", Kind: schemas.Created, ContractID: "00ab", TemplateID: "0a:Acme.Api:Note", PackageName: "acme-notes",
			Argument: []byte(`{"record":{"fields":[{"value":{"party":"alice::12"}},{"value":{"text":"hello"}}]}}`), CreatedAt: at, Signatories: []string{"alice::12"},
		}, {
			EventID: id + ":1", Node: 1, Kind: schemas.Exercised, ContractID: "00ab", TemplateID: "0a:Acme.Api:Note", PackageName: "acme-notes", Choice: "Note_Edit",
			Argument: []byte(`{"record":{"fields":[{"value":{"text":"bye"}}]}}`), Result: []byte(`{"record":{"fields":[{"value":{"contractId":"00cd"}}]}}`),
			ActingParties: []string{"alice::12"},
		}},
	}}
}

// notes is the package of tradeUpdate.
func notes() []byte {
	text := packagestest.Of(packages.Text)
	record := func(name string) *packages.Type { return packagestest.TypeOf("", "Acme.Api", name) }
	return packagestest.Payload(&packages.Package{Name: "acme-notes", Version: "1.0.0", Modules: []packages.Module{{
		Name: "Acme.Api",
		Types: []packages.DataType{
			packagestest.Data(packages.Record, "Note", packagestest.F("owner", packagestest.Of(packages.Party)), packagestest.F("text", text)),
			packagestest.Data(packages.Record, "Note_Edit", packagestest.F("to", text)),
			packagestest.Data(packages.Record, "Note_EditResult", packagestest.F("note", packagestest.Of(packages.ContractID, record("Note")))),
		},
		Templates: []packages.Template{{Name: "Note", Choices: []packages.Choice{{Name: "Note_Edit", Argument: record("Note_Edit"), Result: record("Note_EditResult")}}}},
	}}})
}

// A process that serves history learns a package that another one adds, and forgets it again: the same
// lookup is answered with labels, though it was answered before, and kept, without.
func TestValuesHaveTheLabelsOfPackagesThatAreAdded(t *testing.T) {
	s := openTestApp(t)
	ingestItems(t, s, []schemas.Item{tradeUpdate()})
	server, err := s.servers.newServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.db.packages.Interval = 50 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 2)
	go func() { served <- server.Serve(ctx) }()
	go func() { served <- s.db.packages.Run(ctx) }()
	defer func() {
		stop()
		for range cap(served) {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	}()
	client := documented(t)
	labelled := func() (bool, string) {
		resp, err := client.Get("http://" + server.Addr() + "/v2/updates/1220aabb?contract_value_encoding=compact_json")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v: %s", resp.StatusCode, err, body)
		}
		text := string(body)
		return strings.Contains(text, `{"owner":"alice::12","text":"hello"}`) && strings.Contains(text, `{"to":"bye"}`) && strings.Contains(text, `{"note":"00cd"}`), text
	}
	awaitLabels := func(want bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			got, text := labelled()
			if got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("labels of the package: %t, want %t: %s", got, want, text)
			}
		}
	}
	if got, text := labelled(); got || !strings.Contains(text, "type not in the catalogue") {
		t.Fatalf("without the package: %s", text)
	}
	other := kept.New(s.db.db)
	p, err := packages.ReadPayload(notes(), "")
	if err != nil {
		t.Fatal(err)
	}
	if report, err := other.AddFiles(ctx, []kept.File{{Path: "notes.dar", Packages: []*packages.Package{p}}}); err != nil || len(report.Added) != 1 {
		t.Fatal(report, err)
	}
	awaitLabels(true)
	if again := openBesideTest(t, s); again.Catalog.Fingerprint() != s.db.packages.Catalog.Fingerprint() || again.Catalog.Template("acme-notes", "Acme.Api:Note") == nil {
		t.Error("a process that starts now does not know the package")
	}
	if _, err := other.Drop(ctx, []string{"acme-notes"}); err != nil {
		t.Fatal(err)
	}
	awaitLabels(false)
}

// openBesideTest follows the packages of a store as another process does.
func openBesideTest(t *testing.T, s *App) *kept.Follower {
	t.Helper()
	files, err := s.p.catalog()
	if err != nil {
		t.Fatal(err)
	}
	f, err := kept.Follow(t.Context(), s.db.db, files, s.p.log)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
