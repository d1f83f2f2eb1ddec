package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Present reads the contracts of a stream that are active at its watermark. It keeps what it has read at a
// position: whoever pays with coins asks for the rules and rounds several times before the next update comes.
// It is safe for concurrent use.
type Present struct {
	state *State
	kept  *memo.LRU[presentSet, []StateContract]
}

// presentSet is what was asked, and at which watermark.
type presentSet struct {
	at                       schemas.Position
	templates, key, observer string
}

const (
	// presentBytes is about the memory of what is kept; the rules are the largest contract, with some 20 kB.
	presentBytes = 8 << 20
	rowBytes     = 1 << 10 // of a contract, beside its argument
)

// Present returns a reader of what is active now.
func (s *State) Present() *Present {
	return &Present{s, memo.NewLRU(presentBytes, func(_ presentSet, list []StateContract) (size int64) {
		for i := range list {
			size += rowBytes + int64(len(list[i].Event.Argument))
		}
		return size
	})}
}

// Watermark returns the position up to which contracts are known, schemas.Start before the first.
func (p *Present) Watermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, p.state.db, journal.ContractsStream(p.state.stream))
}

// Contracts returns the active contracts of some templates that have a lookup key and an observer, unless
// these are "", ascending by (created_at, contract id), and the watermark. They are at most limit, which goes
// with the templates, and must not be changed.
func (p *Present) Contracts(ctx context.Context, key, observer string, limit int, templates ...string) ([]StateContract, schemas.Position, error) {
	at, err := p.Watermark(ctx)
	if err != nil || at == schemas.Start {
		return nil, at, err
	}
	asked := presentSet{at, strings.Join(templates, " "), key, observer}
	if list, ok := p.kept.Get(asked); ok {
		return list, at, nil
	}
	list, err := p.state.StateContracts(ctx, StateQuery{MigrationID: at.MigrationID, At: at.RecordTime, Templates: templates, Key: key, Observer: observer, Limit: limit})
	if err == nil {
		p.kept.Put(asked, list)
	}
	return list, at, err
}

// MiningRounds returns the open and issuing rounds. Of a network that is public history:
// a node sees rounds only if it hosts the governance party.
func (p *Present) MiningRounds(ctx context.Context) (MiningRounds, error) {
	contracts, at, err := p.Contracts(ctx, "", "", maxRounds, template.OpenMiningRound, template.IssuingMiningRound)
	if err != nil {
		return MiningRounds{}, fmt.Errorf("reading mining rounds: %w", err)
	}
	if at == schemas.Start {
		return MiningRounds{}, nil
	}
	rounds := MiningRounds{At: at.RecordTime}
	for _, c := range contracts {
		round, err := roundOf(c)
		if err != nil {
			return MiningRounds{}, err
		}
		if schemas.TemplateName(c.Event.PackageName, c.Event.TemplateID) == template.OpenMiningRound {
			rounds.Open = append(rounds.Open, round)
		} else {
			rounds.Issuing = append(rounds.Issuing, round)
		}
	}
	for _, list := range [][]MiningRound{rounds.Open, rounds.Issuing} {
		slices.SortFunc(list, func(a, b MiningRound) int { return cmp.Compare(a.Number, b.Number) })
	}
	return rounds, nil
}
