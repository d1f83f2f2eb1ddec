package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// keyFields are the fields of which the store makes the lookup key.
var keyFields = map[string][]string{
	ansEntryTemplate: {"name"}, memberTrafficTemplate: {"memberId"}, preapprovalTemplate: {"receiver"}, commandTemplate: {"sender", "nonce"},
}

func (l *lifetime) name() string {
	return schemas.TemplateName(l.Event.PackageName, l.Event.TemplateID)
}

func (l *lifetime) key() string {
	var members map[string]any
	if json.Unmarshal(l.Event.Argument, &members) != nil {
		return ""
	}
	var texts []string
	for _, field := range keyFields[l.name()] {
		texts = append(texts, fmt.Sprint(members[field]))
	}
	return strings.Join(texts, " ")
}

func (l *lifetime) state() history.StateContract {
	return history.StateContract{ContractRow: l.ActiveContract, SynchronizerID: sync1, ArchivedAt: l.to}
}

// stateOf returns what a query selects of the lifetimes for which ok holds.
func (m *memory) stateOf(q history.StateQuery, ok func(*lifetime) bool) ([]history.StateContract, error) {
	defer m.mu.Unlock()
	if err := m.begin("state", schemas.Position{MigrationID: q.MigrationID, RecordTime: q.At}, q.Limit); err != nil {
		return nil, err
	}
	var rows []history.StateContract
	for i := range m.contracts {
		l := &m.contracts[i]
		if l.migration == q.MigrationID && slices.Contains(q.Templates, l.name()) && l.from <= q.At && ok(l) {
			rows = append(rows, l.state())
		}
	}
	return rows, nil
}

func cut(rows []history.StateContract, limit int) []history.StateContract {
	return rows[:min(len(rows), limit)]
}

func selects(q history.StateQuery, l *lifetime) bool {
	e := &l.Event
	return l.to > q.At && (q.Signatory == "" || slices.Contains(e.Signatories, q.Signatory)) &&
		(q.Observer == "" || slices.Contains(e.Observers, q.Observer)) && (q.Key == "" || l.key() == q.Key) &&
		(q.KeyPrefix == "" || strings.HasPrefix(l.key(), q.KeyPrefix)) && (q.ContractID == "" || e.ContractID == q.ContractID)
}

func (m *memory) StateContracts(_ context.Context, q history.StateQuery) ([]history.StateContract, error) {
	rows, err := m.stateOf(q, func(l *lifetime) bool {
		e := &l.Event
		after := q.AfterContractID == "" || e.CreatedAt > q.AfterCreatedAt || e.CreatedAt == q.AfterCreatedAt && e.ContractID > q.AfterContractID
		return after && selects(q, l)
	})
	return cut(rows, q.Limit), err
}

func (m *memory) StateContractsNewest(_ context.Context, q history.StateQuery, createdAt schemas.Micros) ([]history.StateContract, error) {
	rows, err := m.stateOf(q, func(l *lifetime) bool { return l.Event.CreatedAt <= createdAt && selects(q, l) })
	slices.Reverse(rows)
	return cut(rows, q.Limit), err
}

func (m *memory) StateContractsSince(_ context.Context, q history.StateQuery, since schemas.Micros) ([]history.StateContract, error) {
	rows, err := m.stateOf(q, func(l *lifetime) bool { return l.Event.CreatedAt >= since && l.key() == q.Key })
	return cut(rows, q.Limit), err
}

func (m *memory) TrafficCost(_ context.Context, through schemas.Position, synchronizerID string, members []string) (cost int64, err error) {
	defer m.mu.Unlock()
	if err := m.begin("traffic", through, 1); err != nil {
		return 0, err
	}
	for _, it := range m.items {
		if it.Traffic != nil && !through.Before(it.Position()) && it.Verdict.SynchronizerID == synchronizerID &&
			slices.Contains(members, it.Verdict.SubmittingParticipantUID) {
			cost += it.Traffic.TotalCost
		}
	}
	return cost, nil
}

func (m *memory) ActivityRounds(_ context.Context, through schemas.Position) (first, last int64, ok bool, err error) {
	defer m.mu.Unlock()
	if err := m.begin("rounds", through, 1); err != nil {
		return 0, 0, false, err
	}
	for _, it := range m.items {
		if a := it.AppActivity; a != nil && !through.Before(it.Position()) {
			if !ok || a.RoundNumber < first {
				first = a.RoundNumber
			}
			last, ok = max(last, a.RoundNumber), true
		}
	}
	return first, last, ok, nil
}

func (m *memory) Fact(_ context.Context, key facts.Key) (facts.Fact, error) {
	defer m.mu.Unlock()
	if err := m.begin("fact", schemas.Start, 1); err != nil {
		return facts.Fact{}, err
	}
	f, ok := m.facts[key]
	if !ok {
		return f, fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return f, nil
}

func (m *memory) EndingPages(ctx context.Context, e history.Ending, rg history.Range, each func([]schemas.Update) error) error {
	if !slices.Contains(e.Templates, voteRequestTemplate) {
		return fmt.Errorf("endings of %v", e.Templates)
	}
	rg.Limit = 1 << 20
	found, err := m.exercises(e.Choice, rg)
	if err != nil {
		return err
	}
	for i := range found {
		if err := each(found[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) ExercisesAt(_ context.Context, choice string, migrationID int64, times []schemas.Micros) ([]schemas.Update, error) {
	found, err := m.exercises(choice, history.Range{After: schemas.Position{MigrationID: migrationID}, Through: m.mark, Limit: 1 << 20})
	return slices.DeleteFunc(found, func(u schemas.Update) bool {
		return u.MigrationID != migrationID || !slices.Contains(times, u.RecordTime)
	}), err
}

// exercises returns those of a choice as updates with one event.
func (m *memory) exercises(choice string, rg history.Range) (found []schemas.Update, err error) {
	updates, err := m.Updates(context.Background(), rg)
	for _, u := range updates {
		for _, e := range u.Events {
			if e.Kind == schemas.Exercised && e.Choice == choice {
				one := u
				one.Events = []schemas.Event{e}
				found = append(found, one)
			}
		}
	}
	return found, err
}
