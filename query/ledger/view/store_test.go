package view_test

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// stored is a world that also lies in the real store, with its lifetimes.
func stored(t *testing.T, c devnet.Config) (*world, *nodehistory.Reader) {
	t.Helper()
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	quiet := slog.New(slog.DiscardHandler)
	w := newWorldInto(t, c, true, indexer.NewSinks(db, quiet))
	if err := indexer.NewLifetimes(db, w.stream, 0, quiet).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, nodehistory.NewReader(db, w.stream)
}

// What is selected in the real store and shown then must be what is visible of the whole
// stream: nothing that is visible may be left out by a selection.
func TestNothingVisibleIsLeftInTheStore(t *testing.T) {
	w, reader := stored(t, devnet.Config{Updates: 400, Seed: 51, Node: &devnet.NodeConfig{}})
	known := view.NewKnown(nil)
	templates, err := reader.KnownTemplates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range templates {
		known.AddTemplate(i.PackageName, i.TemplateID)
	}
	for _, o := range w.templates { // what the stream cannot tell
		for _, i := range implements(o.pkg, o.id) {
			known.AddImplementation(o.pkg, o.id, i)
		}
	}
	known.AddInterface(nobodysID)
	shown := 0
	for n := range 50 {
		g := &generator{Rand: rand.New(rand.NewPCG(51, uint64(n))), w: w}
		q := g.wants()
		begin := g.Int64N(w.updates[len(w.updates)-1].Local.Offset)
		end := begin + g.Int64N(w.updates[len(w.updates)-1].Local.Offset-begin+1)
		body := q.text(begin, end, g.IntN(2) == 0)
		req, err := view.ParseUpdates([]byte(body), known, view.Formats)
		if err != nil {
			t.Fatalf("case %d: %s: %v", n, body, err)
		}
		want := w.render(t, req)
		rg := nodehistory.Range{After: begin, Through: end, Descending: req.Descending, Limit: 1 + g.IntN(300)}
		at := 0
		for rg.After < rg.Through {
			covered, err := eachUpdate(t.Context(), reader, n%2 == 0, req.Format.Selection(), rg, func(u *schemas.Update) {
				out, visible, err := req.Format.AppendUpdate(nil, u)
				if err != nil {
					t.Fatalf("case %d: %s: %v", n, body, err)
				}
				if !visible {
					return
				}
				if at == len(want) || string(want[at]) != string(out) {
					t.Fatalf("case %d: %s: update %d out of the store is\n%s\nand should be\n%s", n, body, at, out, append(want, nil)[at])
				}
				at++
			})
			if err != nil {
				t.Fatalf("case %d: %s: %v", n, body, err)
			}
			if rg.Descending {
				rg.Through = covered
			} else {
				rg.After = covered
			}
		}
		if shown += at; at != len(want) {
			t.Fatalf("case %d: %s: %d updates out of the store, %d are visible; next is %s", n, body, at, len(want), want[at])
		}
	}
	if shown < 700 {
		t.Errorf("only %d updates were shown", shown)
	}
	w.compareActive(t, reader, known)
}

// compareActive does the same with sets of active contracts.
func (w *world) compareActive(t *testing.T, reader *nodehistory.Reader, known *view.Known) {
	shown := 0
	for n := range 16 {
		g := &generator{Rand: rand.New(rand.NewPCG(52, uint64(n))), w: w}
		offset := w.updates[g.IntN(len(w.updates))].Local.Offset
		body := toJSON(map[string]any{"activeAtOffset": offset, "eventFormat": g.eventWants().json()})
		req, err := view.ParseActive([]byte(body), known)
		if err != nil {
			t.Fatalf("case %d: %s: %v", n, body, err)
		}
		want, got := map[string]bool{}, map[string]bool{}
		add := func(set map[string]bool, c *nodehistory.Contract) {
			c.WorkflowID = "" // the plain evaluation does not look for it
			out, visible, err := req.Format.AppendActive(nil, c, "")
			if err != nil {
				t.Fatal(err)
			}
			if visible {
				set[string(out)] = true
			}
		}
		for _, c := range w.activeAt(offset) {
			add(want, &c)
		}
		query := nodehistory.ActiveQuery{Offset: offset, Selection: req.Format.Selection(), Limit: 20 + g.IntN(400)}
		for more := true; more; {
			page, err := reader.LedgerActive(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Contracts {
				query.After = page.Contracts[i].Key()
				add(got, &page.Contracts[i])
			}
			more = page.More
		}
		if shown += len(got); !maps.Equal(got, want) {
			for text := range want {
				if !got[text] {
					t.Logf("missing: %s", text)
					break
				}
			}
			for text := range got {
				if !want[text] {
					t.Logf("too much: %s", text)
					break
				}
			}
			t.Fatalf("case %d: %s: %d contracts out of the store, %d are visible", n, body, len(got), len(want))
		}
	}
	if shown < 200 {
		t.Errorf("only %d active contracts were shown", shown)
	}
}

// eachUpdate calls so for each update of a page of a range, or of a run.
func eachUpdate(ctx context.Context, r *nodehistory.Reader, page bool, sel nodehistory.Selection, rg nodehistory.Range, so func(*schemas.Update)) (covered int64, err error) {
	var run *nodehistory.Run
	if page {
		read, err := r.LedgerUpdates(ctx, sel, rg)
		if err != nil {
			return 0, err
		}
		run = nodehistory.RunOf(read)
	} else if run, err = r.LedgerRun(ctx, sel, rg); err != nil {
		return 0, err
	}
	defer run.Close()
	for {
		u, err := run.Next()
		if u == nil || err != nil {
			return run.Covered(), err
		}
		so(u)
	}
}
