package faults

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// network serves a short history of the simulated network and surveys it.
func network(t *testing.T) (url string, subjects []Subject) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 80, Seed: 3, Days: 2, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(ledger.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	if subjects, err = Survey(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	imports := 0
	for _, s := range subjects {
		if s.Import {
			imports++
		}
	}
	digests := ledger.Digests()
	if uint64(imports) != digests.Tables["imports"].Rows || uint64(len(subjects)-imports) < digests.Counts.Updates {
		t.Fatalf("the survey found %d imports and %d items of history, the network has %d and at least %d",
			imports, len(subjects)-imports, digests.Tables["imports"].Rows, digests.Counts.Updates)
	}
	return server.URL, subjects
}

// TestEveryLieChangesWhatIsSaid tells each lie about several items and compares with the
// truth: something about the subject must differ, and the same lie must be the same
// when it is told again.
func TestEveryLieChangesWhatIsSaid(t *testing.T) {
	url, subjects := network(t)
	names := make(map[string]bool)
	for _, lie := range Lies() {
		if names[lie.Name] || lie.About == "" || len(lie.Means) == 0 {
			t.Errorf("lie %q has no name of its own, or says nothing about itself", lie.Name)
		}
		names[lie.Name] = true
		t.Run(lie.Name, func(t *testing.T) {
			told := 0
			for i := 0; i < len(subjects) && told < 2; i += 7 {
				if lie.CanTell(subjects[i]) {
					tell(t, url, lie, subjects[i])
					told++
				}
			}
			if told == 0 {
				t.Error("it can be told about nothing")
			}
		})
	}
}

func tell(t *testing.T, url string, lie Lie, s Subject) {
	t.Helper()
	liar := NewLiar(5, lie, s)
	p := newHTTP(t, HTTPConfig{Target: url, Liar: liar})
	operation, question := questionAbout(lie, s)
	if lie.Late {
		if truth := request(t, p.URL()+operation, question, testTimeout); truth.body != request(t, url+operation, question, testTimeout).body || liar.Told() != 0 {
			t.Errorf("%s: lies before it begins", liar)
		}
		liar.Begin()
	}
	truth := request(t, url+operation, question, testTimeout)
	first, second := request(t, p.URL()+operation, question, testTimeout), request(t, p.URL()+operation, question, testTimeout)
	switch {
	case truth.err != nil || first.err != nil:
		t.Fatalf("%s: %v, %v", liar, truth.err, first.err)
	case first.body == truth.body:
		t.Errorf("%s: the answer is the truth", liar)
	case liar.Told() != 2:
		t.Errorf("%s: told %d times by its own count, want 2", liar, liar.Told())
	case first.body != second.body:
		t.Errorf("%s: told twice, it is another lie", liar)
	}
	if lie.Name != "cut answer" && lie.Name != "invalid UTF-8" && !json.Valid([]byte(first.body)) {
		t.Errorf("%s: the answer is no JSON", liar)
	}
}

const testTimeout = 20e9

// questionAbout asks for a page that the lie about the subject changes: the one that
// holds the subject, or, for what is untrue behind it, the one that follows.
func questionAbout(lie Lie, s Subject) (operation, question string) {
	if s.Import {
		return importsOperation, `{"migration_id":1,"after_update_id":"","limit":1000}`
	}
	cursor := ""
	if lie.Name == "empty page too early" {
		cursor = fmt.Sprintf(`,"after":{"after_migration_id":0,"after_record_time":%q}`, s.RecordTime)
	}
	return "/v0/events", fmt.Sprintf(`{"page_size":1000,"daml_value_encoding":"protobuf_json"%s}`, cursor)
}

// TestNothingIsUntrueBeforeTheSubject asks for pages that end before what is lied about.
func TestNothingIsUntrueBeforeTheSubject(t *testing.T) {
	url, subjects := network(t)
	const question = `{"page_size":5,"daml_value_encoding":"protobuf_json"}`
	truth := request(t, url+"/v0/events", question, testTimeout)
	late := subjects[len(subjects)-1]
	for _, lie := range Lies() {
		if !lie.CanTell(late) || lie.request != nil {
			continue
		}
		liar := NewLiar(1, lie, late)
		liar.Begin()
		p := newHTTP(t, HTTPConfig{Target: url, Liar: liar})
		if g := request(t, p.URL()+"/v0/events", question, testTimeout); g.body != truth.body || liar.Told() != 0 {
			t.Errorf("%s: the first page differs from the truth, %d lies were told", liar, liar.Told())
		}
	}
}
