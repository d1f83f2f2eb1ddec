package node_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
)

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
