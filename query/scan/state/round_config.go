package state

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// roundConfig is what matters of an open round's contract for its fees, which are in dollars.
type roundConfig struct {
	Price  decimal.Decimal `json:"amuletPrice"`
	Config struct {
		Create  struct{ Fee decimal.Decimal }  `json:"createFee"`
		Holding struct{ Rate decimal.Decimal } `json:"holdingFee"`
		Lock    struct{ Fee decimal.Decimal }  `json:"lockHolderFee"`
		// Transfer is a share of what is transferred, which falls above the amounts of the steps.
		Transfer struct {
			InitialRate decimal.Decimal
			Steps       []struct {
				Amount decimal.Decimal `json:"_1"`
				Rate   decimal.Decimal `json:"_2"`
			}
		} `json:"transferFee"`
	} `json:"transferConfigUsd"`
}

// config serves the fees of a round in coins, also of one that is over. It is deprecated.
func (m *rounds) config(ctx context.Context, r *query.Request) error {
	p := r.Query()
	number := p.Int64("round")
	if err := p.Err(); err != nil {
		return err
	}
	c, err := m.opened(ctx, number)
	if err != nil {
		return err
	}
	if c == nil {
		return query.Errorf(query.NotFound, "No open mining round with the number %d found.", number)
	}
	var round roundConfig
	if err := c.decode(&round); err != nil {
		return err
	}
	if round.Price.Sign() <= 0 {
		return fmt.Errorf("round %d has the price %s", number, round.Price)
	}
	fees := &round.Config
	steps := make([]map[string]decimal.Decimal, len(fees.Transfer.Steps))
	for i, s := range fees.Transfer.Steps {
		steps[i] = map[string]decimal.Decimal{"amount": s.Amount.Over(round.Price), "rate": s.Rate}
	}
	return r.JSON(map[string]any{
		r.Naming(m.naming).Member("coin_create_fee"): fees.Create.Fee.Over(round.Price),
		"holding_fee": fees.Holding.Rate.Over(round.Price), "lock_holder_fee": fees.Lock.Fee.Over(round.Price),
		"transfer_fee": map[string]any{"initial": fees.Transfer.InitialRate, "steps": steps},
	})
}

// opened returns the contract with which a round was opened, nil for an unknown round. Rounds are
// carried over into the next migration, so the newest one that began before the round has it.
func (m *rounds) opened(ctx context.Context, number int64) (*contract, error) {
	_, at, err := m.sets.contracts.of(ctx, template.OpenMiningRound)
	if err != nil {
		return nil, err
	}
	for migration := at.MigrationID; migration >= 0; migration-- {
		first, err := m.openedSince(ctx, migration, schemas.MinMicros)
		if err != nil {
			return nil, err
		}
		if c := first.numbered(number); c != nil {
			return c, nil
		}
		if len(first) > 0 && first[0].number < number {
			return m.openedAfter(ctx, migration, number, first.last())
		}
	}
	return nil, nil
}

// opening is when a round was opened.
type opening struct {
	number int64 // 0 where no round is known
	time   schemas.Micros
}

// openedAfter looks for a round that was opened after another one. Numbers grow with time at a steady
// pace, so every other query looks where the round should be, and the others halve the time in which
// it can be: twice twenty short queries find one of a million at worst, three as a rule.
func (m *rounds) openedAfter(ctx context.Context, migration, number int64, low opening) (*contract, error) {
	_, at, err := m.sets.contracts.of(ctx, template.OpenMiningRound)
	if err != nil {
		return nil, err
	}
	const day = schemas.Micros(24 * 3600 * 1e6)
	high := opening{time: at.RecordTime + day} // ledger time may be ahead of record time, by minutes
	for guess := false; low.number < number && low.time < high.time; guess = !guess {
		since := low.time + (high.time-low.time)/2
		if guess {
			since = expected(low, high, number-openedAtOnce/2)
		}
		next, err := m.openedSince(ctx, migration, since)
		if err != nil {
			return nil, err
		}
		switch c := next.numbered(number); {
		case c != nil:
			return c, nil
		case len(next) == 0:
			high = opening{time: since}
		case next[0].number > number:
			high = opening{next[0].number, since}
		default:
			low = next.last()
		}
	}
	return nil, nil
}

// expected is when a round would have been opened if all between two others took the same time, and
// half of the time where the later one is not known.
func expected(low, high opening, number int64) schemas.Micros {
	part := 0.5
	if high.number > 0 {
		part = max(0, float64(number-low.number)/float64(high.number-low.number))
	}
	return min(low.time+schemas.Micros(part*float64(high.time-low.time)), high.time-1)
}

// openedRounds are contracts of open rounds with their numbers.
type openedRounds []struct {
	contract
	number int64
}

// last is the latest of the rounds, of which there is one at least. The list may end among rounds that
// were opened at once, so that those may stand at its time.
func (list openedRounds) last() opening {
	c := &list[len(list)-1]
	at := c.Event.CreatedAt
	if at == list[0].Event.CreatedAt {
		at++
	}
	return opening{c.number, at}
}

func (list openedRounds) numbered(number int64) *contract {
	for i := range list {
		if list[i].number == number {
			return &list[i].contract
		}
	}
	return nil
}

// openedAtOnce is more rounds than are opened at once: the network begins with three.
const openedAtOnce = 8

// openedSince returns the first rounds that a migration has of those that were opened at or after an
// instant, by time.
func (m *rounds) openedSince(ctx context.Context, migration int64, since schemas.Micros) (openedRounds, error) {
	q, at, err := m.sets.contracts.of(ctx, template.OpenMiningRound)
	if err != nil {
		return nil, err
	}
	q.Limit = openedAtOnce
	if q.MigrationID = migration; migration < at.MigrationID {
		q.At = schemas.MaxMicros
	}
	rows, err := m.sets.contracts.source.StateContractsSince(ctx, q, since)
	if err != nil {
		return nil, err
	}
	list := make(openedRounds, len(rows))
	for i, c := range m.sets.contracts.compacted(rows) {
		list[i].contract = c
		if list[i].number, err = list[i].roundNumber(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
