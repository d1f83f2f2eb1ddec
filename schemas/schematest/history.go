// Package schematest makes small random histories for tests: consistent enough that
// every archived contract was active before, odd enough to meet the corners
// (reassignments there and back, transient contracts, empty lists, unicode, verdicts
// without updates). The same seed gives the same history.
package schematest

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// FirstTime is the record time of the first item of a history's first migration.
const FirstTime schemas.Micros = 1782864000 * 1e6 // 2026-07-01T00:00:00Z

// History is a generated stream.
type History struct {
	// Items are in history order; each migration's imports stand before its history.
	Items []schemas.Item
	// Active are the contracts active at the end, by id.
	Active map[string]*schemas.Event
}

// Config shapes a history.
type Config struct {
	Seed uint64
	// Items is the number of items per migration, imports apart.
	Items      int
	Migrations int
	// Step is the mean distance of record times; one minute if zero.
	Step schemas.Micros
}

type generator struct {
	*rand.Rand
	cfg       Config
	history   History
	migration int64
	now       schemas.Micros
	ids       int
	away      []*schemas.Event // unassigned, to be assigned later
	counters  map[string]int64
	elsewhere map[string]bool // contracts assigned to the second synchronizer
}

const (
	mainSynchronizer  = "global-domain::1220aa"
	otherSynchronizer = "other-domain::1220bb"
)

// New generates a history.
func New(cfg Config) *History {
	if cfg.Migrations == 0 {
		cfg.Migrations = 2
	}
	if cfg.Step == 0 {
		cfg.Step = 60 * 1e6
	}
	g := &generator{
		Rand: rand.New(rand.NewPCG(cfg.Seed, 1)), cfg: cfg, now: FirstTime,
		counters: make(map[string]int64), elsewhere: make(map[string]bool),
	}
	g.history.Active = make(map[string]*schemas.Event)
	for m := range cfg.Migrations {
		g.migration = int64(m)
		if m > 0 {
			g.imports()
		}
		for range cfg.Items {
			g.now += 1 + schemas.Micros(g.Int64N(int64(cfg.Step)*2))
			g.item()
		}
		g.assignAll()
	}
	return &g.history
}

func (g *generator) id(prefix string) string {
	g.ids++
	random := g.Uint64()
	return fmt.Sprintf("%s%016x%016x%032x", prefix, random, bits.Reverse64(random), g.ids)
}

// Party returns one of a few parties, named like those of a network: party 0 to 4 are
// signatories, observer 1 and 2 observers.
func Party(name string, n int) string { return fmt.Sprintf("%s%d::1220%064x", name, n, 0xabc0+n) }

func (g *generator) add(it schemas.Item) { g.history.Items = append(g.history.Items, it) }

func (g *generator) imports() {
	for _, id := range g.activeIDs() {
		e := *g.history.Active[id]
		e.Node, e.EventID = 0, schemas.EventID(id, 0)
		synchronizer := mainSynchronizer
		if g.elsewhere[id] {
			synchronizer = otherSynchronizer
		}
		g.add(schemas.Item{Update: &schemas.Update{
			Kind: schemas.Transaction, MigrationID: g.migration, SynchronizerID: synchronizer, RecordTime: schemas.MinMicros,
			UpdateID: id, Encoding: schemas.ProtobufJSON, WorkflowID: "canton-network-acs-import-" + id,
			EffectiveAt: g.now, RootEvents: []int32{0}, Events: []schemas.Event{e},
		}})
	}
}

func (g *generator) activeIDs() []string {
	ids := make([]string, 0, len(g.history.Active))
	for id := range g.history.Active {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (g *generator) item() {
	switch n := g.IntN(20); {
	case n == 0:
		g.unassign()
	case n == 1 && len(g.away) > 0:
		g.assign()
	case n == 2:
		g.add(schemas.Item{Verdict: g.verdict(g.id("1220"), "VERDICT_RESULT_REJECTED")})
	default:
		g.transaction()
	}
}

func (g *generator) transaction() {
	u := &schemas.Update{
		Kind: schemas.Transaction, MigrationID: g.migration, SynchronizerID: mainSynchronizer, RecordTime: g.now,
		UpdateID: g.id("1220"), Encoding: schemas.ProtobufJSON, EffectiveAt: g.now - schemas.Micros(g.IntN(2000)),
	}
	if g.IntN(3) == 0 {
		u.WorkflowID = "workflow"
	}
	for range 1 + g.IntN(3) {
		u.RootEvents = append(u.RootEvents, int32(len(u.Events)))
		if g.IntN(3) == 0 {
			g.create(u)
			continue
		}
		g.exercise(u, 0)
	}
	it := schemas.Item{Update: u}
	if g.IntN(4) > 0 {
		it.Verdict = g.verdict(u.UpdateID, "VERDICT_RESULT_ACCEPTED")
		it.Traffic = &schemas.TrafficSummary{TotalCost: g.Int64N(1e6), Envelopes: []byte(`[{"traffic_cost":5,"view_ids":[0]}]`)}
		if g.IntN(2) == 0 {
			it.AppActivity = &schemas.AppActivity{RoundNumber: g.Int64N(1000), Records: []byte(`[]`)}
		}
	}
	g.add(it)
}

// create adds a created event to u and returns its node number.
func (g *generator) create(u *schemas.Update) int32 {
	n := int32(len(u.Events))
	e := schemas.Event{
		EventID: schemas.EventID(u.UpdateID, n), Node: n, Kind: schemas.Created, ContractID: g.id("00"),
		TemplateID: fmt.Sprintf("pkg%d:Mod.Ule:T%d", g.IntN(2), g.IntN(3)), PackageName: "package",
		Argument: fmt.Appendf(nil, `{"record":{"fields":[{"value":{"text":"π %d\n"}},{"value":{"contractId":%q}},{"value":{"party":%q}}]}}`,
			g.IntN(100), fmt.Sprintf("00%0136x", g.ids), Party("owner", g.ids%9)),
		CreatedAt: u.EffectiveAt, Signatories: []string{Party("party", g.IntN(5))},
	}
	if g.IntN(2) == 0 {
		e.Observers = []string{Party("observer", 1), Party("observer", 2)}
	}
	u.Events = append(u.Events, e)
	g.history.Active[e.ContractID] = &e
	return n
}

// exercise adds an exercised event, perhaps with children, to u.
func (g *generator) exercise(u *schemas.Update, depth int) int32 {
	n := int32(len(u.Events))
	target := g.target()
	consuming := target != nil && g.IntN(3) > 0
	if target == nil {
		target = &schemas.Event{ContractID: g.id("00ee"), TemplateID: "pkg0:Mod.Ule:Unseen", PackageName: "package"}
	}
	u.Events = append(u.Events, schemas.Event{
		EventID: schemas.EventID(u.UpdateID, n), Node: n, Kind: schemas.Exercised, ContractID: target.ContractID,
		TemplateID: target.TemplateID, PackageName: target.PackageName, Choice: "Choose", Argument: []byte(`{"unit":{}}`),
		Result: []byte(`null`), Consuming: consuming, ActingParties: []string{"z::1220", "a::1220"},
	})
	if consuming {
		delete(g.history.Active, target.ContractID)
	}
	var children []int32
	for range g.IntN(3) {
		switch {
		case depth < 3 && g.IntN(2) == 0:
			children = append(children, g.exercise(u, depth+1))
		default:
			children = append(children, g.create(u))
		}
	}
	u.Events[n].Children = children
	return n
}

// target picks an active contract on the main synchronizer, or nil.
func (g *generator) target() *schemas.Event {
	ids := g.activeIDs()
	for range 3 {
		if len(ids) == 0 {
			return nil
		}
		if id := ids[g.IntN(len(ids))]; !g.elsewhere[id] {
			return g.history.Active[id]
		}
	}
	return nil
}

func (g *generator) reassignment(id string) (*schemas.Update, *schemas.Reassignment) {
	r := &schemas.Reassignment{Submitter: "party0::1220", UnassignID: g.id("u"), ContractID: id, Counter: g.counters[id]}
	r.SourceSynchronizer, r.TargetSynchronizer = mainSynchronizer, otherSynchronizer
	if g.elsewhere[id] {
		r.SourceSynchronizer, r.TargetSynchronizer = otherSynchronizer, mainSynchronizer
	}
	return &schemas.Update{
		MigrationID: g.migration, RecordTime: g.now, UpdateID: g.id("1220"), Encoding: schemas.ProtobufJSON, Reassignment: r,
	}, r
}

func (g *generator) unassign() {
	ids := g.activeIDs()
	if len(ids) == 0 {
		g.transaction()
		return
	}
	id := ids[g.IntN(len(ids))]
	g.counters[id]++
	u, r := g.reassignment(id)
	u.Kind, u.SynchronizerID = schemas.Unassignment, r.SourceSynchronizer
	g.away = append(g.away, g.history.Active[id])
	delete(g.history.Active, id)
	g.add(schemas.Item{Update: u})
}

func (g *generator) assign() {
	e := *g.away[0]
	g.away = g.away[1:]
	u, r := g.reassignment(e.ContractID)
	u.Kind, u.SynchronizerID = schemas.Assignment, r.TargetSynchronizer
	e.Node, e.EventID = 0, schemas.EventID(u.UpdateID, 0)
	u.Events = []schemas.Event{e}
	g.elsewhere[e.ContractID] = r.TargetSynchronizer == otherSynchronizer
	g.history.Active[e.ContractID] = &e
	g.add(schemas.Item{Update: u})
}

// assignAll brings home what is under way, so that no contract is lost at a migration.
func (g *generator) assignAll() {
	for len(g.away) > 0 {
		g.now += 1000
		g.assign()
	}
}

func (g *generator) verdict(updateID, result string) *schemas.Verdict {
	return &schemas.Verdict{
		UpdateID: updateID, MigrationID: g.migration, SynchronizerID: mainSynchronizer, RecordTime: g.now,
		FinalizationTime: g.now + 5, SubmittingParties: []string{"party0::1220"}, SubmittingParticipantUID: "PAR::node::1220",
		Result: result, RoundNumber: int64(g.IntN(5)) - 1, Views: []byte(`{"root_views":[0],"views":[]}`),
	}
}
