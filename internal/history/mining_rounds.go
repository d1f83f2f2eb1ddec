package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const (
	// maxRounds bounds the rounds that are read; there are about three of each kind.
	maxRounds = 1000
)

// MiningRound is an open or an issuing round.
type MiningRound struct {
	Number int64
	// Price is what a coin costs in dollars, of an open round.
	Price             decimal.Decimal
	OpensAt, ClosesAt schemas.Micros // ClosesAt is what is aimed at
	// Contract is the round's, its argument in compact JSON.
	Contract StateContract
}

// MiningRounds are the active rounds at the watermark of a stream, ascending by number.
type MiningRounds struct {
	Open, Issuing []MiningRound
	// At is the record time of the watermark.
	At schemas.Micros
}

// MiningRounds returns the open and issuing rounds. Of a network that is public history:
// a node sees rounds only if it hosts the governance party.
func (s *State) MiningRounds(ctx context.Context) (MiningRounds, error) {
	mark, err := journal.Watermark(ctx, s.db, journal.ContractsStream(s.stream))
	if err != nil || mark == schemas.Start {
		return MiningRounds{}, err
	}
	contracts, err := s.StateContracts(ctx, StateQuery{
		MigrationID: mark.MigrationID, At: mark.RecordTime, Templates: []string{template.OpenMiningRound, template.IssuingMiningRound}, Limit: maxRounds,
	})
	if err != nil {
		return MiningRounds{}, fmt.Errorf("reading mining rounds: %w", err)
	}
	rounds := MiningRounds{At: mark.RecordTime}
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

func roundOf(c StateContract) (MiningRound, error) {
	wrong := func(err error) (MiningRound, error) {
		return MiningRound{}, fmt.Errorf("reading the mining round in contract %.80q: %w", c.Event.ContractID, err)
	}
	if c.Encoding != schemas.CompactJSON {
		compact, err := values.AppendCompact(nil, c.Event.Argument, values.Default().Template(c.Event.PackageName, c.Event.TemplateID))
		if err != nil {
			return wrong(err)
		}
		c.Event.Argument, c.Encoding = compact, schemas.CompactJSON
	}
	var payload struct {
		Round struct {
			Number string `json:"number"`
		} `json:"round"`
		Price    decimal.Decimal `json:"amuletPrice"`
		OpensAt  string          `json:"opensAt"`
		ClosesAt string          `json:"targetClosesAt"`
	}
	if err := json.Unmarshal(c.Event.Argument, &payload); err != nil {
		return wrong(err)
	}
	round := MiningRound{Price: payload.Price, Contract: c}
	var err error
	if round.Number, err = strconv.ParseInt(payload.Round.Number, 10, 64); err != nil {
		return wrong(err)
	}
	if round.OpensAt, err = schemas.ParseTime(payload.OpensAt); err != nil {
		return wrong(err)
	}
	if round.ClosesAt, err = schemas.ParseTime(payload.ClosesAt); err != nil {
		return wrong(err)
	}
	return round, nil
}
