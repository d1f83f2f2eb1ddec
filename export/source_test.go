package export

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// memorySource is a Source over lists in history order.
type memorySource struct {
	imports, updates     []schemas.Update
	verdicts             []schemas.Item
	watermark, contracts schemas.Position
	// movements are those up to derived, nil for none.
	movements []schemas.MovementRow
	derived   *schemas.Position
}

func (s *memorySource) Stream() string { return schemas.ScanStream }

func (s *memorySource) Watermark(context.Context) (schemas.Position, error) { return s.watermark, nil }

func (s *memorySource) ContractsWatermark(context.Context) (schemas.Position, error) {
	return s.contracts, nil
}

func (s *memorySource) MovementsWatermark(context.Context) (schemas.Position, error) {
	if s.derived == nil {
		return schemas.Start, nil
	}
	return *s.derived, nil
}

func (s *memorySource) MovementPages(_ context.Context, ref schemas.SegmentRef, limit int, page func([]schemas.MovementRow) error) error {
	start, end, err := ref.Bounds()
	if err != nil {
		return err
	}
	var rows []schemas.MovementRow
	for _, r := range s.movements {
		at := schemas.Micros(r.RecordTime)
		if opening := at == store.BeforeHistory; r.MigrationID == ref.MigrationID && opening == ref.IsImports() && (opening || at > start && at <= end) {
			rows = append(rows, r)
		}
	}
	return inPages(rows, limit, page)
}

func (s *memorySource) Migrations(context.Context) ([]history.Migration, error) {
	byID := make(map[int64]*history.Migration)
	at := func(id int64) *history.Migration {
		if byID[id] == nil {
			byID[id] = &history.Migration{ID: id}
		}
		return byID[id]
	}
	for i := range s.imports {
		if !s.watermark.Before(s.imports[i].Position()) {
			m := at(s.imports[i].MigrationID)
			m.Imports++
			m.LastImportID = s.imports[i].UpdateID
		}
	}
	for i := range s.updates {
		if u := &s.updates[i]; !s.watermark.Before(u.Position()) {
			widen(at(u.MigrationID), u)
		}
	}
	var list []history.Migration
	for _, m := range byID {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b history.Migration) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

func widen(m *history.Migration, u *schemas.Update) {
	for i := range m.Synchronizers {
		if r := &m.Synchronizers[i]; r.SynchronizerID == u.SynchronizerID {
			r.Min, r.Max = min(r.Min, u.RecordTime), max(r.Max, u.RecordTime)
			return
		}
	}
	m.Synchronizers = append(m.Synchronizers, history.SynchronizerRange{
		SynchronizerID: u.SynchronizerID, Min: u.RecordTime, Max: u.RecordTime,
	})
}

// within returns the first limit elements of an ascending list in (after, through].
func within[T any](list []T, at func(*T) schemas.Position, after, through schemas.Position, limit int) []T {
	from := 0
	for from < len(list) && !after.Before(at(&list[from])) {
		from++
	}
	to := from
	for to < len(list) && to-from < limit && !through.Before(at(&list[to])) {
		to++
	}
	return slices.Clone(list[from:to])
}

// inPages hands out a list in pages.
func inPages[T any](list []T, limit int, page func([]T) error) error {
	for p := range slices.Chunk(list, limit) {
		if err := page(slices.Clone(p)); err != nil {
			return err
		}
	}
	return nil
}

func (s *memorySource) UpdatePages(_ context.Context, rg history.Range, page func([]schemas.Update) error) error {
	return inPages(within(s.updates, (*schemas.Update).Position, rg.After, rg.Through, len(s.updates)), rg.Limit, page)
}

func (s *memorySource) VerdictPages(_ context.Context, rg history.Range, page func([]schemas.Item) error) error {
	return inPages(within(s.verdicts, (*schemas.Item).Position, rg.After, rg.Through, len(s.verdicts)), rg.Limit, page)
}

func (s *memorySource) NextVerdict(_ context.Context, after, through schemas.Position) (at schemas.Position, ok bool, err error) {
	next := within(s.verdicts, (*schemas.Item).Position, after, through, 1)
	if len(next) == 0 {
		return at, false, nil
	}
	return next[0].Position(), true, nil
}

func (s *memorySource) ImportPages(_ context.Context, migrationID int64, limit int, page func([]schemas.Update) error) error {
	start := schemas.Position{MigrationID: migrationID, RecordTime: schemas.MinMicros}
	return inPages(within(s.imports, (*schemas.Update).Position, start, schemas.EndOf(migrationID, schemas.MinMicros), len(s.imports)), limit, page)
}

func (s *memorySource) ActivePages(_ context.Context, q history.ActiveQuery, page func([]history.ActiveContract) error) error {
	return inPages(s.active(q), q.Limit, page)
}

// active is the whole set.
func (s *memorySource) active(q history.ActiveQuery) (list []history.ActiveContract) {
	active := make(map[string]history.ActiveContract)
	for _, list := range [][]schemas.Update{s.imports, s.updates} {
		for i := range list {
			if u := &list[i]; u.MigrationID == q.MigrationID && u.RecordTime <= q.At {
				applyLifetimes(active, u, q.HideCarried)
			}
		}
	}
	for _, c := range active {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b history.ActiveContract) int {
		return cmp.Or(cmp.Compare(a.Event.CreatedAt, b.Event.CreatedAt), strings.Compare(a.Event.ContractID, b.Event.ContractID))
	})
	return list
}

func applyLifetimes(active map[string]history.ActiveContract, u *schemas.Update, hideCarried bool) {
	if u.Kind == schemas.Unassignment {
		delete(active, u.Reassignment.ContractID)
	}
	for _, e := range u.Events {
		switch {
		case e.Kind == schemas.Created:
			e.EventID, e.Node = "", 0
			createdIn := u.UpdateID
			if hideCarried && u.RecordTime == schemas.MinMicros {
				createdIn = ""
			}
			active[e.ContractID] = history.ActiveContract{Event: e, Encoding: u.Encoding, CreatedIn: createdIn}
		case e.Consuming:
			delete(active, e.ContractID)
		}
	}
}

// generator makes random histories that are equal for equal seeds.
type generator struct {
	*rand.Rand
	live    []string // contracts that may be archived or moved
	texts   []string
	payload int // extra bytes per payload
}

func newGenerator(seed uint64) *generator {
	return &generator{
		Rand:  rand.New(rand.NewPCG(seed, 7)),
		texts: []string{"", "ä", "日本語", "a\"b\\c", "tab\tline\n", "\u2028\x01", "😀", "plain", strings.Repeat("long ", 40)},
	}
}

func (g *generator) hex(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return hex.EncodeToString(b)
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) party() string {
	return fmt.Sprintf("party-%d::1220%060d", g.IntN(40), g.IntN(40))
}

func (g *generator) parties() []string {
	var list []string
	for range g.IntN(4) {
		list = append(list, g.party())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// json returns canonical JSON in the manner of a contract record.
func (g *generator) json() []byte {
	switch g.IntN(12) {
	case 0:
		return []byte("null")
	case 1:
		return []byte("{}")
	case 2:
		return []byte(`[[],"",0,-1.5e+10,true]`)
	}
	text := pick(g, []string{`""`, `"ä日本語😀"`, `"a\"b\\c"`, `"\t\n\u0001"`, `"plain"`})
	out := fmt.Appendf(nil, `{"record":{"fields":[{"value":{"party":"%s"}},{"value":{"numeric":"%d.%010d"}},{"value":{"text":%s}}`,
		g.party(), g.IntN(1e6), g.IntN(1e9), text)
	for len(out) < g.payload {
		out = fmt.Appendf(out, `,{"value":{"record":{"fields":[{"value":{"contractId":"00%s"}},{"value":{"party":"%s"}},`+
			`{"value":{"numeric":"%d.0000000000"}},{"value":{"timestamp":"17%014d"}},{"value":{"optional":{}}}]}}}`,
			g.hex(34), g.party(), g.IntN(1000), g.Int64N(1e14))
	}
	return append(out, "]}}"...)
}

func (g *generator) template() (id, pkg string) {
	pkg = pick(g, []string{"splice-amulet", "splice-wallet", "app"})
	return fmt.Sprintf("%064d:%s:T%d", len(pkg), pick(g, []string{"Splice.Amulet", "A.B"}), g.IntN(9)), pkg
}

func (g *generator) created(updateID string, node int32, at schemas.Micros) schemas.Event {
	e := schemas.Event{
		EventID: schemas.EventID(updateID, node), Node: node, Kind: schemas.Created, ContractID: "00" + g.hex(68),
		Argument: g.json(), CreatedAt: at, Signatories: g.parties(), Observers: g.parties(),
	}
	e.TemplateID, e.PackageName = g.template()
	return e
}

func (g *generator) exercised(updateID string, node int32) schemas.Event {
	e := schemas.Event{
		EventID: schemas.EventID(updateID, node), Node: node, Kind: schemas.Exercised, ContractID: "00" + g.hex(68),
		Argument: g.json(), Result: g.json(), Choice: pick(g, []string{"Archive", "AmuletRules_Transfer", "X"}),
		ActingParties: g.parties(),
	}
	e.TemplateID, e.PackageName = g.template()
	if g.chance(30) {
		e.InterfaceID = "#iface:Holding:Holding"
	}
	if len(g.live) > 0 && g.chance(60) {
		i := g.IntN(len(g.live))
		e.ContractID, e.Consuming = g.live[i], true
		g.live = slices.Delete(g.live, i, i+1)
	}
	return e
}

// transaction has nodes in preorder: roots and one level of children.
func (g *generator) transaction(migrationID int64, at schemas.Micros, nodes int) schemas.Update {
	u := schemas.Update{
		Kind: schemas.Transaction, MigrationID: migrationID, SynchronizerID: "global::12" + g.twoLetters(), RecordTime: at,
		UpdateID: "1220" + g.hex(32), Encoding: pick(g, []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON}),
		WorkflowID: pick(g, g.texts), EffectiveAt: at - schemas.Micros(g.IntN(3e6)),
	}
	if g.chance(20) {
		u.ExternalTransactionHash = g.hex(32)
	}
	parent := int32(-1)
	for n := range int32(nodes) {
		if g.chance(50) {
			e := g.created(u.UpdateID, n, u.EffectiveAt)
			g.live = append(g.live, e.ContractID)
			u.Events = append(u.Events, e)
		} else {
			u.Events = append(u.Events, g.exercised(u.UpdateID, n))
		}
		if parent < 0 || g.chance(30) {
			u.RootEvents = append(u.RootEvents, n)
			if u.Events[n].Kind == schemas.Exercised {
				parent = n
			}
		} else {
			u.Events[parent].Children = append(u.Events[parent].Children, n)
		}
	}
	return u
}

// twoLetters names one of two synchronizers.
func (g *generator) twoLetters() string { return pick(g, []string{"aa", "bb"}) }

func (g *generator) reassignment(migrationID int64, at schemas.Micros) schemas.Update {
	u := schemas.Update{
		Kind: schemas.Unassignment, MigrationID: migrationID, SynchronizerID: "source::1", RecordTime: at,
		UpdateID: "1220" + g.hex(32), Encoding: schemas.ProtobufJSON,
		Reassignment: &schemas.Reassignment{
			Submitter: g.party(), SourceSynchronizer: "source::1", TargetSynchronizer: "target::1",
			UnassignID: g.hex(16), Counter: int64(g.IntN(3)), ContractID: "00" + g.hex(68),
		},
	}
	if g.chance(50) {
		u.Kind, u.SynchronizerID = schemas.Assignment, "target::1"
		e := g.created(u.UpdateID, 0, at)
		e.EventID = pick(g, []string{e.EventID, "", "#other:7"})
		u.Events, u.Reassignment.ContractID = []schemas.Event{e}, e.ContractID
		g.live = append(g.live, e.ContractID)
	}
	return u
}

func (g *generator) importUpdate(migrationID int64, created schemas.Micros) schemas.Update {
	u := g.transaction(migrationID, schemas.MinMicros, 0)
	u.EffectiveAt = created
	u.RootEvents, u.Events = []int32{0}, []schemas.Event{g.created(u.UpdateID, 0, created)}
	return u
}

// verdict decides on the update with the given position.
func (g *generator) verdict(p schemas.Position) schemas.Item {
	it := schemas.Item{Verdict: &schemas.Verdict{
		UpdateID: p.UpdateID, MigrationID: p.MigrationID, SynchronizerID: "global::12aa", RecordTime: p.RecordTime,
		FinalizationTime: p.RecordTime + 500, SubmittingParties: g.parties(), SubmittingParticipantUID: "PAR::x",
		Result: "VERDICT_RESULT_ACCEPTED", MediatorGroup: int32(g.IntN(3)), RoundNumber: int64(g.IntN(5)) - 1,
		Views: []byte(`{"root_views":[0],"views":[]}`),
	}}
	if g.chance(70) {
		it.Traffic = &schemas.TrafficSummary{TotalCost: int64(g.IntN(1e6)), Envelopes: []byte(`[{"traffic_cost":12,"view_ids":[]}]`)}
	}
	if g.chance(40) {
		it.AppActivity = &schemas.AppActivity{RoundNumber: int64(g.IntN(9)), Records: []byte(`[{"party":"p","weight":7}]`)}
	}
	return it
}

func micros(text string) schemas.Micros {
	m, err := schemas.ParseTime(text)
	if err != nil {
		panic(err)
	}
	return m
}

// history appends updates of a migration, evenly between two instants, with verdicts.
func (g *generator) history(s *memorySource, migrationID int64, from, to schemas.Micros, updates, nodes int) {
	step := (to - from) / schemas.Micros(updates)
	for i := range updates {
		at := from + step*schemas.Micros(i+1)
		switch {
		case g.chance(15):
			s.updates = append(s.updates, g.reassignment(migrationID, at))
		case g.chance(10): // a rejected transaction has a verdict only
			p := schemas.Position{MigrationID: migrationID, RecordTime: at, UpdateID: "1220" + g.hex(32)}
			s.verdicts = append(s.verdicts, g.verdict(p))
		default:
			u := g.transaction(migrationID, at, g.IntN(2*nodes+1))
			s.updates = append(s.updates, u)
			if g.chance(80) {
				s.verdicts = append(s.verdicts, g.verdict(u.Position()))
			}
		}
	}
}

// withMovements adds movements to a history: some of each update, and an opening for each import
// update of the first migration that has any. All are derived.
func withMovements(s *memorySource) *memorySource {
	g := newGenerator(uint64(len(s.updates)))
	add := func(u *schemas.Update, entry int, at schemas.Micros) {
		r := schemas.MovementRow{
			MigrationID: u.MigrationID, RecordTime: int64(at), UpdateID: u.UpdateID, Entry: int32(entry), Event: int32(g.IntN(3)), Party: g.party(),
			Instrument: "DSO::12aa/Amulet", Pocket: pick(g, []string{"unlocked", "locked"}), Cause: "transfer", Purpose: "send",
			Counterparty: g.party(), Round: int64(g.IntN(9)), StatedRound: -1, Choice: "AmuletRules_Transfer", Template: "splice-amulet:Splice.AmuletRules:AmuletRules",
			Reason: pick(g, []string{"", "rent", "line\nwith \"quotes\""}), Source: "coins",
		}
		if at == store.BeforeHistory {
			r.Cause, r.Event, r.Source = "opening", -1, "opening"
		}
		amount := decimal.OfInt128(uint64(g.IntN(3)), g.Uint64())
		if g.chance(50) {
			amount = amount.Neg()
		}
		r.SetAmount(amount)
		s.movements = append(s.movements, r)
	}
	for i := range s.imports {
		if s.imports[i].MigrationID == s.imports[0].MigrationID {
			add(&s.imports[i], 0, store.BeforeHistory)
		}
	}
	for i := range s.updates {
		for entry := range g.IntN(4) {
			add(&s.updates[i], entry, s.updates[i].RecordTime)
		}
	}
	s.derived = &s.watermark
	return s
}

// twoMigrations is a history over four days, with imports in between. Its watermark
// lies within the last day.
func twoMigrations(seed uint64, updatesPerDay int) *memorySource {
	g, s := newGenerator(seed), &memorySource{}
	g.history(s, 0, micros("2026-07-01T13:00:00Z"), micros("2026-07-02T00:00:00Z"), updatesPerDay, 4)
	g.history(s, 0, micros("2026-07-03T00:00:00Z"), micros("2026-07-03T09:00:00Z"), updatesPerDay, 4) // a day without history before
	for range updatesPerDay {
		s.imports = append(s.imports, g.importUpdate(1, micros("2026-07-01T14:00:00Z")+schemas.Micros(g.IntN(1e9))))
	}
	slices.SortFunc(s.imports, func(a, b schemas.Update) int { return a.Position().Compare(b.Position()) })
	g.history(s, 1, micros("2026-07-03T10:00:00Z"), micros("2026-07-04T00:00:00Z"), updatesPerDay, 4)
	g.history(s, 1, micros("2026-07-04T00:00:00Z"), micros("2026-07-04T20:00:00Z"), updatesPerDay, 4)
	s.watermark = schemas.EndOf(1, micros("2026-07-04T20:00:00Z"))
	s.contracts = s.watermark
	return s
}
