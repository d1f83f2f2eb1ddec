package node_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

const begin = 1000 // offset of the set that a generated stream begins with

// ledger makes a node's stream and evaluates plainly what is asked of it.
type ledger struct {
	*rand.Rand
	stream  string
	imports []schemas.Update
	updates []schemas.Update
	// lives are all lifetimes, by their begin.
	lives []*life

	offset int64
	now    schemas.Micros
	ids    int
}

// life is a contract's time on a synchronizer.
type life struct {
	create       schemas.Event
	synchronizer string
	workflow     string
	counter      int64
	began, ended int64 // offsets, ended 0 for not
	left         bool  // it ended with an unassignment
	leftEvent    schemas.Event
	returned     int64 // offset of the assignment after it
	delta        bool
}

var synchronizers = []string{"first::1220aa", "other::1220bb"}

// party n is a witness of about one of 2^n events.
func party(n int) string { return schematest.Party("party", n) }

const parties = 10

// templates are named by package name; the first has two versions.
func template(n, version int) (packageName, id string) {
	return fmt.Sprintf("package-%d", n), fmt.Sprintf("%064x:Mod.Sub:T%d", n*10+version, n)
}

func newLedger(seed uint64, updates int) *ledger {
	l := &ledger{Rand: rand.New(rand.NewPCG(seed, 7)), stream: schemas.NodeStream("p"), offset: begin, now: schematest.FirstTime}
	for range 6 {
		l.carry()
	}
	for len(l.updates) < updates {
		l.next()
	}
	return l
}

func (l *ledger) some() (list []string) {
	for n := range parties {
		if l.IntN(1<<n) == 0 {
			list = append(list, party(n))
		}
	}
	slices.Sort(list)
	return list
}

func (l *ledger) created(node int32, delta bool) schemas.Event {
	l.ids++
	name, id := template(min(l.IntN(3)*l.IntN(5), 5), 0)
	all := l.some()
	cut := 1 + l.IntN(len(all))
	return schemas.Event{
		Node: node, Kind: schemas.Created, ContractID: fmt.Sprintf("00%0136x", l.ids), TemplateID: id, PackageName: name,
		Argument: fmt.Appendf(nil, `{"n":%d,"owner":%q}`, l.ids, all[0]), CreatedAt: schematest.FirstTime + schemas.Micros(l.IntN(1000)),
		Signatories: all[:cut:cut], Observers: append([]string(nil), all[cut:]...),
		Local: &schemas.LocalEvent{Witnesses: all, ACSDelta: delta, LastDescendant: node, Extras: []byte(`{"createdEventBlob":"YQ=="}`)},
	}
}

// ends is the exercise that archives a contract, by a choice of another version if it has one.
func (l *ledger) ends(node int32, c schemas.Event, delta bool) schemas.Event {
	e := schemas.Event{
		Node: node, Kind: schemas.Exercised, ContractID: c.ContractID, TemplateID: c.TemplateID, PackageName: c.PackageName,
		Argument: []byte(`{}`), Result: []byte(`null`), Choice: "Archive", Consuming: true, ActingParties: c.Signatories,
		Local: &schemas.LocalEvent{Witnesses: c.Local.Witnesses, ACSDelta: delta, LastDescendant: node},
	}
	if _, id := template(0, 0); c.TemplateID == id {
		_, e.TemplateID = template(0, 1)
	}
	if l.IntN(3) == 0 {
		e.InterfaceID, e.Choice = fmt.Sprintf("%064x:Mod:I", 99), "Move"
	}
	return e
}

// carry adds a contract that the stream begins with.
func (l *ledger) carry() {
	c := l.created(0, true)
	node, activated, counter := int32(l.IntN(9)), int64(1+l.IntN(begin)), int64(l.IntN(3))
	c.Local.Extras = fmt.Appendf(nil, `{"createdEventBlob":"YQ==","nodeId":%d,"offset":%d,"reassignmentCounter":%d}`, node, activated, counter)
	u := schemas.Update{
		Kind: schemas.Transaction, SynchronizerID: synchronizers[0], RecordTime: schemas.MinMicros, UpdateID: c.ContractID,
		Encoding: schemas.CompactJSON, WorkflowID: "carried", EffectiveAt: c.CreatedAt, RootEvents: []int32{0}, Events: []schemas.Event{c},
		Local: &schemas.LocalUpdate{Offset: begin, PaidTrafficCost: -1},
	}
	u.Events[0].EventID = schemas.EventID(u.UpdateID, 0)
	l.imports = append(l.imports, u)
	shown := c
	shown.Node = node
	shown.EventID = u.Events[0].EventID
	l.lives = append(l.lives, &life{create: shown, synchronizer: synchronizers[0], workflow: "carried", counter: counter, began: begin, delta: true})
}

// alive are the lifetimes that may end, those of one synchronizer if it is not "".
func (l *ledger) alive(synchronizer string) (list []*life) {
	for _, f := range l.lives {
		if f.ended == 0 && f.delta && (synchronizer == "" || f.synchronizer == synchronizer) {
			list = append(list, f)
		}
	}
	return list
}

// next adds an update of some kind. The second synchronizer's clock is behind.
func (l *ledger) next() {
	l.offset += 1 + int64(l.IntN(400))
	l.now += 1000
	s := l.IntN(2)
	u := schemas.Update{
		Kind: schemas.Transaction, SynchronizerID: synchronizers[s], RecordTime: l.now - schemas.Micros(s)*50_000,
		UpdateID: fmt.Sprintf("1220%064x", l.offset), Encoding: schemas.CompactJSON,
		Local: &schemas.LocalUpdate{Offset: l.offset, PaidTrafficCost: -1, TraceContext: []byte(`{"traceparent":"00"}`)},
	}
	inFlight := slices.DeleteFunc(slices.Clone(l.lives), func(f *life) bool { return !f.left || f.returned != 0 })
	alive := l.alive(u.SynchronizerID)
	switch kind := l.IntN(20); {
	case kind == 0:
		u.Kind, u.Local.Topology = schemas.Topology, []byte(`[{"event":{"ParticipantAuthorizationAdded":{}}}]`)
	case kind <= 2 && len(alive) > 0:
		l.unassign(&u, alive[l.IntN(len(alive))])
	case kind <= 4 && len(inFlight) > 0:
		l.assign(&u, inFlight[l.IntN(len(inFlight))])
	default:
		u.WorkflowID, u.EffectiveAt = fmt.Sprintf("work-%d", l.offset), u.RecordTime
		l.transact(&u, alive)
	}
	for i := range u.Events {
		u.Events[i].EventID = schemas.EventID(u.UpdateID, u.Events[i].Node)
	}
	for _, f := range l.lives { // events were copied before they had ids
		if f.began == l.offset {
			f.create.EventID = schemas.EventID(u.UpdateID, f.create.Node)
		}
		if f.ended == l.offset && f.left {
			f.leftEvent.EventID = schemas.EventID(u.UpdateID, f.leftEvent.Node)
		}
	}
	l.updates = append(l.updates, u)
}

func (l *ledger) transact(u *schemas.Update, alive []*life) {
	node := int32(0)
	add := func(e schemas.Event) {
		u.Events = append(u.Events, e)
		u.RootEvents = append(u.RootEvents, node)
		node += 1 + int32(l.IntN(2))
	}
	for range l.IntN(3) {
		if len(alive) > 8 {
			i := l.IntN(len(alive))
			add(l.ends(node, alive[i].create, true))
			alive[i].ended = u.Local.Offset
			alive = slices.Delete(alive, i, i+1)
		}
	}
	for range l.IntN(4) {
		switch l.IntN(5) {
		case 0: // divulged: nobody here is a stakeholder
			add(l.created(node, false))
		case 1: // created and archived by one update
			c := l.created(node, false)
			add(c)
			add(l.ends(node, c, false))
		default:
			c := l.created(node, true)
			l.lives = append(l.lives, &life{create: c, synchronizer: u.SynchronizerID, workflow: u.WorkflowID, began: u.Local.Offset, delta: true})
			add(c)
		}
	}
	if len(u.Events) == 0 {
		add(l.created(node, false))
	}
}

func (l *ledger) unassign(u *schemas.Update, f *life) {
	u.Kind = schemas.Unassignment
	target := synchronizers[0]
	if u.SynchronizerID == target {
		target = synchronizers[1]
	}
	id := fmt.Sprintf("%064x", u.Local.Offset)
	e := schemas.Event{
		Kind: schemas.Unassigned, ContractID: f.create.ContractID, TemplateID: f.create.TemplateID, PackageName: f.create.PackageName,
		Local: &schemas.LocalEvent{Witnesses: f.create.Local.Witnesses, ACSDelta: true,
			Extras: fmt.Appendf(nil, `{"reassignmentCounter":%d,"reassignmentId":%q}`, f.counter+1, id)},
	}
	u.Events = []schemas.Event{e}
	u.Reassignment = &schemas.Reassignment{
		Submitter: party(0), SourceSynchronizer: u.SynchronizerID, TargetSynchronizer: target, UnassignID: id, Counter: f.counter + 1, ContractID: e.ContractID,
	}
	f.ended, f.left, f.leftEvent = u.Local.Offset, true, e
}

func (l *ledger) assign(u *schemas.Update, f *life) {
	u.Kind = schemas.Assignment
	c := f.create
	local := *c.Local
	c.Local, c.Node, local.LastDescendant = &local, 0, 0
	var id string
	for i := range l.updates {
		if l.updates[i].Local.Offset == f.ended {
			r := *l.updates[i].Reassignment
			u.Reassignment, id, u.SynchronizerID = &r, r.UnassignID, r.TargetSynchronizer
		}
	}
	local.Extras = fmt.Appendf(nil, `{"reassignmentCounter":%d,"reassignmentId":%q}`, f.counter+1, id)
	u.Events = []schemas.Event{c}
	f.returned = u.Local.Offset
	l.lives = append(l.lives, &life{create: c, synchronizer: u.SynchronizerID, counter: f.counter + 1, began: u.Local.Offset, delta: true})
}

// batches are those of the stream: the set that it begins with, then updates.
func (l *ledger) batches(size int) (list []*schemas.Batch) {
	after := schemas.Start
	add := func(through schemas.Position, updates []schemas.Update) {
		b := &schemas.Batch{Stream: l.stream, After: after, Through: through}
		for i := range updates {
			b.Items = append(b.Items, schemas.Item{Update: &updates[i]})
		}
		list, after = append(list, b), through
	}
	slices.SortFunc(l.imports, func(a, b schemas.Update) int { return a.Position().Compare(b.Position()) })
	add(schemas.AtOffset(begin), l.imports)
	for part := range slices.Chunk(l.updates, size) {
		add(part[len(part)-1].Position(), part)
	}
	return list
}

// stored is a ledger in a store.
type stored struct {
	*ledger
	db        *store.DB
	reader    *node.Reader
	lifetimes *indexer.Lifetimes
	end       int64
}

func storeLedger(t *testing.T, l *ledger) *stored {
	t.Helper()
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	log := slog.New(slog.DiscardHandler)
	w := indexer.NewWriter(db, l.stream, log)
	lifetimes := indexer.NewLifetimes(db, l.stream, time.Millisecond, log)
	for i, b := range l.batches(100) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			if err := lifetimes.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lifetimes.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &stored{l, db, node.NewReader(db, l.stream), lifetimes, l.offset}
}

// grow adds updates to the stream and its store.
func (s *stored) grow(t *testing.T, updates []schemas.Update) {
	t.Helper()
	b := &schemas.Batch{Stream: s.stream, After: schemas.AtOffset(s.end), Through: updates[len(updates)-1].Position()}
	for i := range updates {
		b.Items = append(b.Items, schemas.Item{Update: &updates[i]})
	}
	if err := indexer.NewWriter(s.db, s.stream, slog.New(slog.DiscardHandler)).Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s.updates, s.end = append(s.updates, updates...), b.Through.Offset
}

// above puts rows above the watermark, as a writer does before its commit.
func (s *stored) above(t *testing.T) *schemas.Update {
	t.Helper()
	s.next()
	for s.updates[len(s.updates)-1].Kind != schemas.Transaction {
		s.updates = s.updates[:len(s.updates)-1]
		s.next()
	}
	u := s.updates[len(s.updates)-1]
	s.updates = s.updates[:len(s.updates)-1]
	u.Events = append(u.Events, s.created(99, true))
	last := &u.Events[len(u.Events)-1]
	last.EventID, last.TemplateID, last.PackageName = schemas.EventID(u.UpdateID, 99), "new:Mod:T", "new"
	updates, events := store.NewUpdates(), store.NewEvents()
	updates.Append(s.stream, &u)
	events.Append(s.stream, &u)
	for table, block := range map[string]store.Block{"updates": updates, "events": events} {
		if err := s.db.Insert(t.Context(), table, "", block); err != nil {
			t.Fatal(err)
		}
	}
	return &u
}
