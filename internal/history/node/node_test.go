package node_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
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
					rg.After, rg.Through = s.updates[300].Local.Offset, s.updates[350].Local.Offset
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
		for i := range 12 {
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

// Rows that a writer has stored and not committed are in no answer.
func TestLedgerEndsAtTheWatermark(t *testing.T) {
	s := storeLedger(t, newLedger(3, 150))
	u := s.above(t)
	ctx := t.Context()
	end, err := s.reader.LedgerEnd(ctx)
	if err != nil || end != s.end {
		t.Fatalf("the end is %d, %v; want %d", end, err, s.end)
	}
	from, err := s.reader.LedgerEndFrom(ctx, u.Local.Offset)
	if err != nil || from != s.end {
		t.Errorf("the end from %d is %d, %v", u.Local.Offset, from, err)
	}
	if got := s.pages(t, everything(), node.Range{After: s.end, Through: u.Local.Offset, Limit: 10}); len(got) > 0 {
		t.Errorf("%d updates above the end", len(got))
	}
	at, err := s.reader.LedgerUpdateAt(ctx, u.Local.Offset)
	if err != nil || at != nil {
		t.Errorf("at an offset above the end: %v, %v", at, err)
	}
	byID, err := s.reader.LedgerUpdateByID(ctx, u.UpdateID)
	if err != nil || byID != nil {
		t.Errorf("by an id above the end: %v, %v", byID, err)
	}
	created, ended, err := s.reader.ContractEvents(ctx, u.Events[len(u.Events)-1].ContractID)
	if err != nil || created != nil || ended != nil {
		t.Errorf("a contract above the end: %v, %v, %v", created, ended, err)
	}
	known, err := s.reader.KnownTemplates(ctx)
	if err != nil || slices.ContainsFunc(known, func(l node.Template) bool { return l.PackageName == "new" }) {
		t.Errorf("templates above the end are known: %v, %v", known, err)
	}
	if times, err := s.reader.SynchronizerTimes(ctx, end); err != nil || !slices.Equal(times, s.times(end)) {
		t.Errorf("times at the end are %v, %v; want %v", times, err, s.times(end))
	}
}

// times evaluates SynchronizerTimes plainly.
func (s *stored) times(offset int64) (list []node.SynchronizerTime) {
	for _, id := range synchronizers {
		latest := node.SynchronizerTime{SynchronizerID: id, RecordTime: schemas.MinMicros}
		for i := range s.updates {
			if u := &s.updates[i]; u.SynchronizerID == id && u.Local.Offset <= offset {
				latest.RecordTime = max(latest.RecordTime, u.RecordTime)
			}
		}
		if latest.RecordTime != schemas.MinMicros {
			list = append(list, latest)
		}
	}
	return list
}

func TestLedgerLookups(t *testing.T) {
	s := storeLedger(t, newLedger(4, 200))
	ctx := t.Context()
	if at, err := s.reader.LedgerBegin(ctx); err != nil || at != begin {
		t.Errorf("the stream begins after %d, %v; want %d", at, err, begin)
	}
	for i := 0; i < len(s.updates); i += 17 {
		want := &s.updates[i]
		at, err := s.reader.LedgerUpdateAt(ctx, want.Local.Offset)
		if err != nil || at == nil || text(at) != text(want) {
			t.Fatalf("the update at offset %d: %v, %v", want.Local.Offset, at, err)
		}
		byID, err := s.reader.LedgerUpdateByID(ctx, want.UpdateID)
		if err != nil || byID == nil || text(byID) != text(want) {
			t.Fatalf("update %s: %v, %v", want.UpdateID, byID, err)
		}
		if times, err := s.reader.SynchronizerTimes(ctx, want.Local.Offset); err != nil || !slices.Equal(times, s.times(want.Local.Offset)) {
			t.Fatalf("times at offset %d are %v, %v; want %v", want.Local.Offset, times, err, s.times(want.Local.Offset))
		}
	}
	hole := s.updates[0].Local.Offset + 1
	for slices.ContainsFunc(s.updates, func(u schemas.Update) bool { return u.Local.Offset == hole }) {
		hole++
	}
	for _, offset := range []int64{hole, 0, -5, begin} {
		if u, err := s.reader.LedgerUpdateAt(ctx, offset); err != nil || u != nil {
			t.Errorf("at offset %d, where nothing is: %v, %v", offset, u, err)
		}
	}
	for _, id := range []string{"", "nothing", s.updates[3].UpdateID + "0", s.imports[0].UpdateID} {
		if u, err := s.reader.LedgerUpdateByID(ctx, id); err != nil || u != nil {
			t.Errorf("by id %q, of no update: %v, %v", id, u, err)
		}
	}
	s.checkTemplates(t)
}

// checkTemplates compares the templates that are known with those of all events.
func (s *stored) checkTemplates(t *testing.T) {
	t.Helper()
	known, err := s.reader.KnownTemplates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[node.Template]bool)
	for _, u := range slices.Concat(s.updates, s.imports) {
		for _, e := range u.Events {
			want[node.Template{PackageName: e.PackageName, TemplateID: e.TemplateID, InterfaceID: e.InterfaceID}] = true
		}
	}
	for _, l := range known {
		if !want[l] {
			t.Errorf("%v is known and not there, or twice", l)
		}
		delete(want, l)
	}
	if len(want) > 0 {
		t.Errorf("%v are not known", want)
	}
}

// An empty stream has an end and nothing else.
func TestLedgerWithoutHistory(t *testing.T) {
	s := storeLedger(t, newLedger(5, 1))
	r, ctx := node.NewReader(s.db, "node:another"), t.Context()
	end, err := r.LedgerEnd(ctx)
	from, err2 := r.LedgerBegin(ctx)
	page, err3 := r.LedgerUpdates(ctx, everything(), node.Range{Through: 10, Limit: 5})
	set, err4 := r.LedgerActive(ctx, node.ActiveQuery{Selection: *of(node.SelectionEntry{}), Limit: 5})
	created, ended, err5 := r.ContractEvents(ctx, "00")
	known, err6 := r.KnownTemplates(ctx)
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if end != 0 || from != 0 || len(page.Updates) > 0 || len(set.Contracts) > 0 || created != nil || ended != nil || len(known) > 0 {
		t.Errorf("a stream without history has %d %d %v %v %v %v %v", end, from, page, set, created, ended, known)
	}
}

// Exercises that end a contract are read with what it was, whether it began in the same
// update, in another one or with the stream, and whatever housekeeping has moved.
func TestLedgerUpdatesTellWhatEnded(t *testing.T) {
	s := storeLedger(t, newLedger(6, 400))
	created := make(map[string]schemas.Event)
	for _, u := range slices.Concat(s.imports, s.updates) {
		for _, e := range u.Events {
			if e.Kind == schemas.Created {
				created[e.ContractID] = e
			}
		}
	}
	sel := everything()
	sel.Contracts = true
	for range 2 {
		ended := 0
		for _, u := range s.pages(t, sel, node.Range{Through: s.end, Limit: 64}) {
			for _, e := range u.Events {
				if c := e.Local.Contract; e.Consuming {
					want := created[e.ContractID]
					if c == nil || c.TemplateID != want.TemplateID || !slices.Equal(c.Signatories, want.Signatories) || !slices.Equal(c.Observers, want.Observers) {
						t.Fatalf("offset %d: event %d ended %+v, want %+v", u.Local.Offset, e.Node, c, want)
					}
					ended++
				} else if c != nil {
					t.Fatalf("offset %d: event %d ended nothing and has %+v", u.Local.Offset, e.Node, c)
				}
			}
		}
		if ended < 100 {
			t.Fatalf("%d contracts ended: the test proves little", ended)
		}
		if err := s.lifetimes.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLedgerContractEvents(t *testing.T) {
	s := storeLedger(t, newLedger(7, 250))
	type pair struct{ created, ended string }
	show := func(u schemas.Update, e schemas.Event) string {
		u.Events = []schemas.Event{e}
		return text(&u)
	}
	want := make(map[string]pair)
	for _, u := range slices.Concat(s.imports, s.updates) {
		for _, e := range u.Events {
			p := want[e.ContractID]
			if e.Kind == schemas.Created && p.created == "" {
				p.created = show(u, e)
			}
			if e.Consuming {
				p.ended = show(u, e)
			}
			want[e.ContractID] = p
		}
	}
	n := 0
	for id, w := range want {
		if n++; n%9 > 0 {
			continue
		}
		created, ended, err := s.reader.ContractEvents(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got pair
		if created != nil {
			got.created = text(&created.Update)
		}
		if ended != nil {
			got.ended = text(&ended.Update)
			if ended.Event().Local.Contract == nil {
				t.Errorf("contract %s: its end does not tell what it was", id)
			}
		}
		if got != w {
			t.Fatalf("contract %s: %+v\nwant %+v", id, got, w)
		}
	}
	if created, ended, err := s.reader.ContractEvents(t.Context(), "00ff"); err != nil || created != nil || ended != nil {
		t.Errorf("an unknown contract: %v, %v, %v", created, ended, err)
	}
}

// elements evaluates an active set plainly, a line for each element.
func (s *stored) elements(q node.ActiveQuery) (list []string) {
	type element struct {
		key  history.ContractKey
		line string
	}
	var all []element
	for _, f := range s.lives {
		if f.began > q.Offset || !slices.ContainsFunc(q.Selection.Entries, func(e node.SelectionEntry) bool {
			return ofParties(e.Parties, f.create.Local.Witnesses) && ofTemplates(e.Templates, &f.create)
		}) {
			continue
		}
		c := node.Contract{Event: f.create, WorkflowID: f.workflow, SynchronizerID: f.synchronizer, Counter: f.counter}
		left := ""
		if f.ended != 0 && f.ended <= q.Offset {
			if !f.left || f.returned != 0 && f.returned <= q.Offset {
				continue
			}
			left = f.leftEvent.EventID
		}
		all = append(all, element{c.Key(), line(&c, left)})
	}
	slices.SortFunc(all, func(a, b element) int {
		return cmp.Or(cmp.Compare(a.key.CreatedAt, b.key.CreatedAt), strings.Compare(a.key.ContractID, b.key.ContractID))
	})
	for _, e := range all {
		list = append(list, e.line)
	}
	return list
}

func line(c *node.Contract, left string) string {
	e := schemas.AppendLocalEvent(nil, &schemas.Update{UpdateID: "", Kind: schemas.Transaction}, &c.Event)
	return fmt.Sprintf("%s %s %s %d %q", e, c.WorkflowID, c.SynchronizerID, c.Counter, left)
}

// Active sets are those of a plain evaluation, at any offset, in pages of any size, contracts
// in flight included, before and after housekeeping has moved what ended.
func TestLedgerActiveSets(t *testing.T) {
	s := storeLedger(t, newLedger(8, 300))
	name, _ := template(1, 0)
	flying := 0
	for round := range 2 {
		for i := round; i < len(s.updates); i += 97 {
			for what, sel := range map[string]*node.EventSelection{
				"all":                of(node.SelectionEntry{}),
				"a party":            of(node.SelectionEntry{Parties: []string{party(3)}}),
				"a template":         of(node.SelectionEntry{Templates: []string{name + ":Mod.Sub:T1"}}),
				"a party's template": of(node.SelectionEntry{Parties: []string{party(1)}, Templates: []string{name + ":Mod.Sub:T1"}}),
				"nothing":            of(),
			} {
				q := node.ActiveQuery{Offset: s.updates[i].Local.Offset, Selection: *sel, Limit: []int{20, 1000}[i%2]}
				var got []string
				for more := true; more; {
					page, err := s.reader.LedgerActive(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					if more = page.More; more {
						q.After = page.Contracts[len(page.Contracts)-1].Key()
					}
					for j := range page.Contracts {
						c, left := &page.Contracts[j], ""
						if c.Unassigned != nil {
							left = c.Unassigned.Event().EventID
							flying++
						}
						got = append(got, line(c, left))
					}
				}
				if want := s.elements(q); !slices.Equal(got, want) {
					t.Fatalf("%s at offset %d, %d elements\n%s\nwant %d\n%s", what, q.Offset, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
				}
			}
		}
		if err := s.lifetimes.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if flying < 5 {
		t.Errorf("%d contracts in flight were seen: the test proves little", flying)
	}
}

// A set above what lifetimes are known for is waited for, as long as the caller does.
func TestLedgerActiveWaitsForLifetimes(t *testing.T) {
	s := storeLedger(t, newLedger(9, 30))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	q := node.ActiveQuery{Offset: s.end + 5, Selection: *of(node.SelectionEntry{}), Limit: 5}
	if _, err := s.reader.LedgerActive(ctx, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a set that never comes: %v", err)
	}
}
