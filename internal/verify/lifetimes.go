package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// lifetimeWalk sums up what the events of a stretch say of lifetimes. Begins and ends are
// summed up apart, so that nothing must be remembered of open contracts: the two sums tell
// all, since no lifetime ends before it begins.
type lifetimeWalk struct {
	sums []audit.LifetimeSum // by bucket
	// transient are contracts of one update that begin and end in it: never active, they
	// have no lifetime. Contracts go by the hash of their id.
	transient map[uint64]bool
	created   []uint64 // contracts that the update creates
}

func newLifetimeWalk() *lifetimeWalk {
	return &lifetimeWalk{sums: make([]audit.LifetimeSum, audit.LifetimeBuckets), transient: make(map[uint64]bool)}
}

func (w *lifetimeWalk) sum(contract uint64) *audit.LifetimeSum {
	return &w.sums[audit.LifetimeBucket(contract)]
}

// update takes an update and the facts of its events.
func (w *lifetimeWalk) update(u *schemas.Update, facts []audit.EventFacts) {
	if u.Local != nil {
		w.local(u, facts)
		return
	}
	if u.Kind == schemas.Unassignment {
		w.end(u, audit.LifetimeHash(u.Reassignment.ContractID))
		return
	}
	w.findTransient(u.Events, facts)
	for i := range u.Events {
		switch e, f := &u.Events[i], &facts[i]; {
		case w.isTransient(f):
		case e.Kind == schemas.Created:
			w.begin(u, e, f)
		case e.Consuming:
			w.end(u, f.Contract)
		}
	}
}

func (w *lifetimeWalk) isTransient(f *audit.EventFacts) bool {
	return len(w.transient) > 0 && w.transient[f.Contract]
}

// local takes an update of a node's own stream. Only events that change the set of
// contracts active on the node count, which those of contracts without a stakeholder there
// do not.
func (w *lifetimeWalk) local(u *schemas.Update, facts []audit.EventFacts) {
	w.findTransient(u.Events, facts)
	for i := range u.Events {
		switch e, f := &u.Events[i], &facts[i]; {
		case w.isTransient(f) || e.Local == nil || !e.Local.ACSDelta:
		case e.Kind == schemas.Created:
			w.begin(u, e, f)
		case e.Consuming, e.Kind == schemas.Unassigned:
			w.end(u, f.Contract)
		}
	}
}

// findTransient fills w.transient. Few updates archive what they have created, and most
// create and archive little, so nothing is put into the map before it is found.
func (w *lifetimeWalk) findTransient(events []schemas.Event, facts []audit.EventFacts) {
	clear(w.transient)
	w.created = w.created[:0]
	for i := range events {
		switch e, contract := &events[i], facts[i].Contract; {
		case e.Kind == schemas.Created:
			w.created = append(w.created, contract)
		case !e.Consuming:
		case len(w.created) > manyCreated:
			w.findAmongMany(events, facts)
			return
		case slices.Contains(w.created, contract):
			w.transient[contract] = true
		}
	}
}

// manyCreated is from how many contracts of an update on they are looked up in a map.
const manyCreated = 64

func (w *lifetimeWalk) findAmongMany(events []schemas.Event, facts []audit.EventFacts) {
	created := make(map[uint64]bool)
	for i := range events {
		switch e, contract := &events[i], facts[i].Contract; {
		case e.Kind == schemas.Created:
			created[contract] = true
		case e.Consuming && created[contract]:
			w.transient[contract] = true
		}
	}
}

// begin takes a created event of u.
func (w *lifetimeWalk) begin(u *schemas.Update, e *schemas.Event, f *audit.EventFacts) {
	s := w.sum(f.Contract)
	s.Begins++
	s.BeginHash += audit.BeginHash(f.Contract, u, e, &f.Create)
}

// end takes the end of a contract in u.
func (w *lifetimeWalk) end(u *schemas.Update, contract uint64) {
	s := w.sum(contract)
	s.Ends++
	s.EndHash += audit.EndHash(contract, u)
}

// storedLifetimes sums up the tables of lifetimes.
func (v *verification) storedLifetimes(ctx context.Context) ([]audit.LifetimeSum, error) {
	sums, backwards, err := v.cfg.Audit.LifetimeSums(ctx)
	if err != nil {
		return nil, err
	}
	if backwards > 0 {
		v.checks[Lifetimes].Add(Finding{
			What: "lifetimes end before they begin", Where: "the tables of lifetimes",
			Expected: "none", Found: fmt.Sprint(backwards),
		})
	}
	return sums, nil
}

const (
	// stepsAtOnce bounds the memory of the engine, which sorts them.
	stepsAtOnce = 2_000_000
	// originsAtOnce bounds that of a join.
	originsAtOnce = 4_000_000
)

// compareLifetimes compares the sums, and names the contracts where they differ. Ends of
// contracts that history never shows to begin make a sum differ, too. They are no fault where
// the governance party sees them only as a part of a larger transaction: see compareEndings.
func (v *verification) compareLifetimes(ctx context.Context, stored []audit.LifetimeSum) error {
	check := v.checks[Lifetimes]
	var buckets []int
	steps := uint64(0)
	for b := range stored {
		check.Count("lifetimes", int64(stored[b].Begins))
		if stored[b] == v.sums[b] {
			continue
		}
		buckets = append(buckets, b)
		steps += stored[b].Begins + v.sums[b].Begins + v.sums[b].Ends
		if steps > stepsAtOnce {
			if err := v.compareContracts(ctx, buckets); err != nil {
				return err
			}
			buckets, steps = buckets[:0], 0
		}
	}
	if err := v.compareContracts(ctx, buckets); err != nil {
		return err
	}
	return v.compareEndings(ctx)
}

// wrongOrigins looks for contracts that were carried over and whose lifetime names another
// update than the one that created them. stored are the sums of all lifetimes.
func (v *verification) wrongOrigins(ctx context.Context, stored []audit.LifetimeSum) error {
	check, portions := v.checks[Lifetimes], portionsOf(stored)
	for p := range portions {
		err := v.cfg.Audit.WrongOrigins(ctx, p, portions, func(o audit.Origin) error {
			check.Add(Finding{
				What: "creating update of a contract that was carried over", Where: fmt.Sprintf("contract %s, migration %d", o.ContractID, o.MigrationID),
				Expected: cmp.Or(o.Elsewhere, "none"), Found: cmp.Or(o.CreatedIn, "none"),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// portionsOf is in how many portions contracts are joined.
func portionsOf(stored []audit.LifetimeSum) int {
	contracts := uint64(0)
	for b := range stored {
		contracts += stored[b].Begins
	}
	return 1 + int(contracts/originsAtOnce)
}

// wrongEnds looks for contracts of which the table of ended contracts, which the ledger
// interface reads, says something else than the lifetimes.
func (v *verification) wrongEnds(ctx context.Context, stored []audit.LifetimeSum) error {
	check, portions := v.checks[Lifetimes], portionsOf(stored)
	for p := range portions {
		err := v.cfg.Audit.WrongEnds(ctx, p, portions, func(e audit.WrongEnd) error {
			f := Finding{What: "a contract that ended", Where: fmt.Sprintf("offset %d", e.Offset), Expected: "the template and stakeholders of its lifetime", Found: "others"}
			if e.Lifetimes != e.Ended {
				f.Expected, f.Found = fmt.Sprintf("%d according to lifetimes", e.Lifetimes), fmt.Sprintf("%d in ended_contracts", e.Ended)
			}
			check.Add(f)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) compareContracts(ctx context.Context, buckets []int) error {
	if len(buckets) == 0 {
		return nil
	}
	if v.endings == nil {
		v.endings = make(map[string]*endings)
	}
	p := lifetimePairs{check: v.checks[Lifetimes], endings: v.endings}
	if err := v.cfg.Audit.LifetimeSteps(ctx, buckets, v.mark, p.step); err != nil {
		return err
	}
	p.finish()
	return nil
}

// lifetimePairs pairs begins with ends, contract by contract, and compares them with the
// lifetimes stored.
type lifetimePairs struct {
	check     *Check
	migration int64
	contract  string

	expected, stored []audit.LifetimeStep
	open             bool // the last expected lifetime has no end yet

	// Of the contract under way: record times of synchronizers do not compare, numbers do.
	begins, ends int
	template     string
	endings      map[string]*endings
}

func (p *lifetimePairs) step(s audit.LifetimeStep) error {
	if s.ContractID != p.contract || s.MigrationID != p.migration {
		p.finish()
		p.contract, p.migration = s.ContractID, s.MigrationID
	}
	p.count(s)
	switch {
	case s.Derived:
		p.stored = append(p.stored, s)
	case s.Begin != 0:
		s.End = audit.NeverArchived
		p.expected = append(p.expected, s)
		p.open = true
	case p.open:
		last := &p.expected[len(p.expected)-1]
		last.End, last.EndOffset = s.End, s.EndOffset
		p.open = false
	}
	return nil
}

// count counts what the events say.
func (p *lifetimePairs) count(s audit.LifetimeStep) {
	switch {
	case s.Derived:
		return
	case s.Begin != 0:
		p.begins++
	default:
		p.ends++
	}
	p.template = cmp.Or(p.template, s.Template)
}

// noteEnding keeps the contract under way if it ends more often than it begins.
func (p *lifetimePairs) noteEnding() {
	if p.ends > p.begins && p.template != "" {
		e := p.endings[p.template]
		if e == nil {
			e = new(endings)
			p.endings[p.template] = e
		}
		e.contracts++
		if len(e.where) < p.check.limit {
			e.where = append(e.where, fmt.Sprintf("contract %s, migration %d", p.contract, p.migration))
		}
	}
	p.begins, p.ends, p.template = 0, 0, ""
}

// finish compares the lifetimes of the contract under way.
func (p *lifetimePairs) finish() {
	p.noteEnding()
	p.expected = slices.DeleteFunc(p.expected, neverActive)
	where := fmt.Sprintf("contract %s, migration %d", p.contract, p.migration)
	for i := range max(len(p.expected), len(p.stored)) {
		switch {
		case i >= len(p.stored):
			p.check.Add(Finding{What: "lifetime is missing", Where: where, Expected: span(p.expected[i]), Found: "none"})
		case i >= len(p.expected):
			p.check.Add(Finding{What: "extra lifetime", Where: where, Expected: "none", Found: span(p.stored[i])})
		case span(p.expected[i]) != span(p.stored[i]):
			p.check.Add(Finding{What: "lifetime", Where: where, Expected: span(p.expected[i]), Found: span(p.stored[i])})
		case p.expected[i].Hash != p.stored[i].Hash:
			p.check.Add(Finding{What: "contract of a lifetime differs from the one created", Where: where + ", active " + span(p.stored[i])})
		}
	}
	p.expected, p.stored, p.open = p.expected[:0], p.stored[:0], false
}

// neverActive reports whether a lifetime ends where it begins.
func neverActive(s audit.LifetimeStep) bool {
	if s.BeginOffset > 0 {
		return s.End != audit.NeverArchived && s.EndOffset <= s.BeginOffset
	}
	return s.End <= s.Begin
}

// span writes from when to when a contract was active.
func span(s audit.LifetimeStep) string {
	from, to := s.Begin.String(), s.End.String()
	if s.Begin == audit.BeforeHistory {
		from = "the start of the migration"
	}
	if s.End == audit.NeverArchived {
		to = "now"
	}
	if s.BeginOffset > 0 {
		from += fmt.Sprintf(" (offset %d)", s.BeginOffset)
		to += fmt.Sprintf(" (offset %d)", s.EndOffset)
	}
	return "from " + from + " to " + to
}
