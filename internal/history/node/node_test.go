package node_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// text is all of an update, by which two are compared.
func text(u *schemas.Update) string { return string(schemas.AppendLocalUpdate(nil, u)) }

// matches evaluates a selection plainly.
func matches(sel node.Selection, u *schemas.Update) bool {
	var of *node.EventSelection
	switch u.Kind {
	case schemas.Topology:
		return sel.Topology
	case schemas.Transaction:
		of = sel.Transactions
	default:
		of = sel.Reassignments
	}
	if of == nil {
		return false
	}
	for i := range u.Events {
		e := &u.Events[i]
		for _, entry := range of.Entries {
			if ofParties(entry.Parties, e.Local.Witnesses) && ofTemplates(entry.Templates, e) {
				return true
			}
		}
	}
	return false
}

func ofParties(wanted, has []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(p string) bool { return slices.Contains(has, p) })
}

// ofTemplates takes all versions of a template for one.
func ofTemplates(wanted []string, e *schemas.Event) bool {
	_, entity, _ := strings.Cut(e.TemplateID, ":")
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(t string) bool {
		_, of, _ := strings.Cut(t, ":")
		return of == entity // entities of different packages have different names here
	})
}

func of(entries ...node.SelectionEntry) *node.EventSelection {
	return &node.EventSelection{Entries: entries}
}

func everything() node.Selection {
	return node.Selection{Transactions: of(node.SelectionEntry{}), Reassignments: of(node.SelectionEntry{}), Topology: true}
}

// selections are those for which the answer is exact.
func selections() map[string]node.Selection {
	name, id := template(1, 0)
	_, first := template(0, 0)
	byName := name + ":Mod.Sub:T1"
	some := func(list ...int) (e node.SelectionEntry) {
		for _, n := range list {
			e.Parties = append(e.Parties, party(n))
		}
		return e
	}
	many := node.SelectionEntry{Parties: []string{party(7)}}
	for i := range 3000 {
		many.Parties = append(many.Parties, fmt.Sprintf("stranger%d::1220", i))
	}
	return map[string]node.Selection{
		"everything":                       everything(),
		"nothing":                          {},
		"no entries":                       {Transactions: of(), Reassignments: of()},
		"all transactions":                 {Transactions: of(node.SelectionEntry{})},
		"all reassignments":                {Reassignments: of(node.SelectionEntry{})},
		"topology":                         {Topology: true},
		"reassignments and topology":       {Reassignments: of(node.SelectionEntry{}), Topology: true},
		"a frequent party":                 {Transactions: of(some(0)), Reassignments: of(some(0))},
		"a rare party":                     {Transactions: of(some(9)), Reassignments: of(some(9))},
		"two parties":                      {Transactions: of(some(5, 8)), Reassignments: of(some(5, 8)), Topology: true},
		"two parties by two entries":       {Transactions: of(some(5), some(8))},
		"a party's reassignments":          {Reassignments: of(some(4))},
		"a stranger":                       {Transactions: of(node.SelectionEntry{Parties: []string{"stranger::1220"}})},
		"thousands of parties":             {Transactions: of(many)},
		"a template by name":               {Transactions: of(node.SelectionEntry{Templates: []string{byName}})},
		"a template by package":            {Transactions: of(node.SelectionEntry{Templates: []string{id}})},
		"a template of two versions":       {Transactions: of(node.SelectionEntry{Templates: []string{first}})},
		"an unknown template":              {Transactions: of(node.SelectionEntry{Templates: []string{"nothing:Mod:X"}})},
		"a party's template":               {Transactions: of(node.SelectionEntry{Parties: []string{party(3)}, Templates: []string{byName}})},
		"a party or a template":            {Transactions: of(some(8), node.SelectionEntry{Templates: []string{byName}})},
		"all transactions, a reassignment": {Transactions: of(node.SelectionEntry{}), Reassignments: of(node.SelectionEntry{})},
	}
}

// page reads a range in pages to its end.
func (s *stored) pages(t *testing.T, sel node.Selection, rg node.Range) (list []schemas.Update) {
	t.Helper()
	for range 10_000 {
		page, err := s.reader.LedgerUpdates(t.Context(), sel, rg)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Updates) > rg.Limit {
			t.Fatalf("a page of %d updates, %d were asked for", len(page.Updates), rg.Limit)
		}
		list = append(list, page.Updates...)
		if rg.Descending {
			if page.Covered > rg.Through || page.Covered < rg.After {
				t.Fatalf("%+v is covered down to %d", rg, page.Covered)
			}
			rg.Through = page.Covered
		} else {
			if page.Covered < rg.After || page.Covered > rg.Through {
				t.Fatalf("%+v is covered up to %d", rg, page.Covered)
			}
			rg.After = page.Covered
		}
		if rg.After >= min(rg.Through, s.end) {
			return list
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

// sameRuns reads a range in runs to its end and compares each update while it is valid.
func (s *stored) sameRuns(t *testing.T, sel node.Selection, rg node.Range, want []schemas.Update) {
	t.Helper()
	what := fmt.Sprintf("runs of %+v", rg)
	for range 10_000 {
		run, err := s.reader.LedgerRun(t.Context(), sel, rg)
		if err != nil {
			t.Fatal(err)
		}
		if run.Len() > rg.Limit {
			t.Fatalf("%s: %d updates", what, run.Len())
		}
		for {
			u, err := run.Next()
			if err != nil {
				t.Fatal(err)
			}
			if u == nil {
				break
			}
			for i := range u.Events {
				if e := &u.Events[i]; e.EventID == "" {
					e.EventID = schemas.EventID(u.UpdateID, e.Node)
				}
			}
			if len(want) == 0 {
				t.Fatalf("%s: the update at offset %d is one too many", what, u.Local.Offset)
			}
			same(t, what, []schemas.Update{*u}, want[:1])
			want = want[1:]
		}
		if rg.Descending {
			rg.Through = run.Covered()
		} else {
			rg.After = run.Covered()
		}
		run.Close()
		if rg.After >= min(rg.Through, s.end) {
			if len(want) > 0 {
				t.Fatalf("%s: %d updates are missing", what, len(want))
			}
			return
		}
	}
	t.Fatalf("%s do not end", what)
}

// want evaluates a selection over a range plainly.
func (s *stored) want(sel node.Selection, rg node.Range) (list []schemas.Update) {
	for i := range s.updates {
		if u := &s.updates[i]; u.Local.Offset > rg.After && u.Local.Offset <= rg.Through && matches(sel, u) {
			list = append(list, *u)
		}
	}
	if rg.Descending {
		slices.Reverse(list)
	}
	return list
}

func same(t *testing.T, what string, got, want []schemas.Update) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if g, w := text(&got[i]), text(&want[i]); g != w {
			t.Fatalf("%s: update %d is\n%s\nwant\n%s", what, i, g, w)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d updates, want %d", what, len(got), len(want))
	}
}

// The answers to all kinds of selection are those of a plain evaluation over the stream, in
// pages of any size and in both directions, and rows above the watermark are not seen.
func TestLedgerUpdatesAreThoseOfTheStream(t *testing.T) {
	s := storeLedger(t, newLedger(1, 700))
	whole, err := s.reader.UpdatesByOffset(t.Context(), 0, s.end, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the stream", whole, s.updates)
	s.above(t)
	s.compareSelections(t)
}

// Updates of which some have a copy, and some do not, are those of the stream, too.
func TestLedgerUpdatesOutOfCopies(t *testing.T) {
	enginetest.NotOnShards(t)
	s := storeLedger(t, newLedger(11, 700))
	if err := indexer.CreateLookupRows(t.Context(), s.db); err != nil {
		t.Fatal(err)
	}
	if err := indexer.NewNodeLookupRows(s.db, s.stream, time.Millisecond, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	updates := copies.NewUpdates(s.db, s.stream)
	offsets := []int64{0, s.end + 1}
	for i := range s.updates {
		offsets = append(offsets, s.updates[i].Local.Offset)
	}
	copied, err := updates.At(t.Context(), offsets)
	if err != nil {
		t.Fatal(err)
	}
	if len(copied) != len(s.updates) {
		t.Fatalf("%d updates are copied, want %d", len(copied), len(s.updates))
	}
	for i := range s.updates {
		want := &s.updates[i]
		if got := copied[want.Local.Offset]; got == nil || text(got) != text(want) {
			t.Fatalf("the copy at offset %d is not the update", want.Local.Offset)
		}
	}
	s.exec(t, "ALTER TABLE node_lookup_rows DELETE WHERE key % 3 = 0")
	s.reader.UseCopies(updates)
	s.compareSelections(t)
}

// What is wrong with a copy is told apart.
func TestLedgerCopiesAreCompared(t *testing.T) {
	enginetest.NotOnShards(t)
	s := storeLedger(t, newLedger(12, 60))
	if err := indexer.CreateLookupRows(t.Context(), s.db); err != nil {
		t.Fatal(err)
	}
	if err := indexer.NewNodeLookupRows(s.db, s.stream, time.Millisecond, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	updates := copies.NewUpdates(s.db, s.stream)
	compare := func() map[copies.State]int {
		states := make(map[copies.State]int)
		for _, through := range []schemas.Position{{RecordTime: schemas.MinMicros, UpdateID: "x", Offset: begin}, schemas.AtOffset(s.end)} {
			err := updates.Compare(t.Context(), schemas.AtOffset(begin), through, func(c copies.Compared) { states[c.State]++ })
			if err != nil {
				t.Fatal(err)
			}
		}
		return states
	}
	if got := compare(); got[copies.Same] != len(s.updates) || len(got) != 1 {
		t.Errorf("all is copied: %v", got)
	}
	one, other := fmt.Sprint(copies.NodeKey(s.stream, s.updates[7].Local.Offset)), fmt.Sprint(copies.NodeKey(s.stream, s.updates[9].Local.Offset))
	s.exec(t, "INSERT INTO node_lookup_rows VALUES ("+one+", 'no frame')")
	s.exec(t, "ALTER TABLE node_lookup_rows DELETE WHERE key = "+other)
	if got := compare(); got[copies.Unreadable] != 1 || got[copies.Missing] != 1 || got[copies.Same] != len(s.updates)-2 {
		t.Errorf("one is damaged and one is lost: %v", got)
	}
	reader := node.NewReader(s.db, s.stream)
	reader.UseCopies(updates)
	if _, err := reader.LedgerUpdateAt(t.Context(), s.updates[7].Local.Offset); err == nil {
		t.Error("a damaged copy is no error")
	}
	changed := s.updates[7]
	changed.WorkflowID += "?"
	packer, err := copies.NewPacker(store.LookupDictionary{})
	if err != nil {
		t.Fatal(err)
	}
	body := packer.Pack(nil, copies.AppendNodePiece(nil, &changed))
	s.exec(t, fmt.Sprintf("INSERT INTO node_lookup_rows SELECT %s, unhex('%x')", one, body))
	if got := compare(); got[copies.Differs] != 1 || got[copies.Missing] != 1 {
		t.Errorf("one has other content and one is lost: %v", got)
	}
}

func (s *stored) exec(t *testing.T, statement string) {
	t.Helper()
	if err := s.db.Exec(t.Context(), statement, "", nil); err != nil {
		t.Fatal(err)
	}
}

// compareSelections compares answers to all kinds of selection with those of the stream.
func (s *stored) compareSelections(t *testing.T) {
	t.Helper()
	found := 0
	for name, sel := range selections() {
		for _, limit := range []int{7, 1000} {
			for _, descending := range []bool{false, true} {
				rg := node.Range{Through: s.end + 1000, Limit: limit, Descending: descending}
				if limit == 7 { // in a part of it
					rg.After, rg.Through = s.updates[300].Local.Offset, s.updates[325].Local.Offset
				}
				want := s.want(sel, rg)
				same(t, fmt.Sprintf("%s, %+v", name, rg), s.pages(t, sel, rg), want)
				s.sameRuns(t, sel, rg, want)
				found += len(want)
			}
		}
	}
	if found < 5_000 {
		t.Errorf("only %d updates were found: the test proves little", found)
	}
}

// Selections of many entries may give more than they ask for, and never less.
func TestLedgerUpdatesOfManyEntries(t *testing.T) {
	s := storeLedger(t, newLedger(2, 300))
	all := node.Range{Through: s.end, Limit: 100}
	for i := range 20 {
		sel := node.Selection{Topology: s.IntN(2) == 0}
		for _, part := range []**node.EventSelection{&sel.Transactions, &sel.Reassignments} {
			if s.IntN(4) == 0 {
				continue
			}
			*part = of()
			for range 1 + s.IntN(4) {
				var e node.SelectionEntry
				for range s.IntN(3) {
					e.Parties = append(e.Parties, party(s.IntN(parties)))
				}
				if s.IntN(2) == 0 {
					_, id := template(s.IntN(5), 0)
					e.Templates = []string{id}
				}
				(*part).Entries = append((*part).Entries, e)
			}
		}
		all.Descending = i%2 == 0
		got := s.pages(t, sel, all)
		at := make(map[int64]bool)
		for j := range got {
			at[got[j].Local.Offset] = true
			if j > 0 && (cmp.Compare(got[j-1].Local.Offset, got[j].Local.Offset) < 0) == all.Descending {
				t.Fatalf("%+v: updates at offsets %d and %d are not in order", sel, got[j-1].Local.Offset, got[j].Local.Offset)
			}
			if of := everything(); !matches(of, &got[j]) {
				t.Fatal("an update of no kind")
			}
		}
		for _, u := range s.want(sel, all) {
			if !at[u.Local.Offset] {
				t.Fatalf("%+v: the update at offset %d is missing", sel, u.Local.Offset)
			}
		}
	}
}

// Pages out of memory are those of the store: for ranges that end before or after that of
// the page that was kept, in both directions, while the stream grows, and when there is
// little room.
func TestLedgerPagesInMemory(t *testing.T) {
	l := newLedger(10, 240)
	later := l.updates[200:]
	l.updates = l.updates[:200]
	s := storeLedger(t, l)
	s.end = l.updates[199].Local.Offset
	roomy, tight := node.NewPages(s.reader, 64<<20, nil), node.NewPages(s.reader, 200_000, nil)
	check := func(sel node.Selection, rg node.Range) {
		t.Helper()
		want := s.want(sel, rg)
		for _, c := range []*node.Pages{roomy, tight} {
			page, err := c.LedgerUpdates(t.Context(), sel, rg)
			if err != nil {
				t.Fatal(err)
			}
			at := func(u schemas.Update) bool {
				if rg.Descending {
					return u.Local.Offset <= page.Covered
				}
				return u.Local.Offset > page.Covered
			}
			covered := want
			if n := slices.IndexFunc(want, at); n >= 0 {
				covered = want[:n]
			}
			same(t, fmt.Sprintf("%+v", rg), page.Updates, covered)
			if len(page.Updates) == 0 && !rg.Descending && page.Covered != max(rg.After, min(rg.Through, s.end)) {
				t.Fatalf("%+v: an empty page that covers up to %d", rg, page.Covered)
			}
		}
	}
	sel := node.Selection{Transactions: of(node.SelectionEntry{Parties: []string{party(1)}}), Topology: true}
	for round := range 4 {
		for i := range schematest.Rounds(7, 12) {
			after, through := s.updates[i*3].Local.Offset, s.updates[s.IntN(len(s.updates))].Local.Offset+int64(s.IntN(3))
			check(sel, node.Range{After: after, Through: through, Limit: 10})
			check(sel, node.Range{After: after, Through: s.end + 100, Limit: 1000})
			check(sel, node.Range{After: s.updates[s.IntN(len(s.updates))].Local.Offset, Through: after, Limit: 10, Descending: true})
			check(sel, node.Range{After: 0, Through: s.updates[199-i].Local.Offset, Limit: 10, Descending: true})
		}
		if round == 1 {
			s.grow(t, later)
		}
	}
}

// Clients that go through the stream get all of it once, whatever is read ahead for them:
// several at once, of which some share their selection, with pages of different sizes, in
// both directions, and with ranges that end before what was read.
func TestLedgerWalks(t *testing.T) {
	s := storeLedger(t, newLedger(11, 500))
	c := node.NewPages(s.reader, 1<<20, nil)
	all, some := everything(), node.Selection{Transactions: of(node.SelectionEntry{Parties: []string{party(2)}})}
	var group errgroup.Group
	for i := range 8 {
		sel, rg := all, node.Range{Through: s.end, Limit: []int{5, 17, 60, 5}[i%4], Descending: i%4 == 2}
		if i >= 4 {
			sel = some
		}
		if i%2 == 1 {
			rg.After, rg.Through = s.updates[50].Local.Offset+1, s.updates[430].Local.Offset
		}
		group.Go(func() error {
			want, got := s.want(sel, rg), []schemas.Update(nil)
			for rg.After < rg.Through {
				page, err := c.LedgerUpdates(t.Context(), sel, rg)
				if err != nil {
					return err
				}
				if len(page.Updates) > rg.Limit {
					return fmt.Errorf("a page of %d updates, %d were asked for", len(page.Updates), rg.Limit)
				}
				got = append(got, page.Updates...)
				if rg.Descending {
					rg.Through = page.Covered
				} else {
					rg.After = page.Covered
				}
			}
			if !slices.EqualFunc(got, want, func(a, b schemas.Update) bool { return text(&a) == text(&b) }) {
				return fmt.Errorf("client %d got %d updates that are not the %d of the stream", i, len(got), len(want))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
