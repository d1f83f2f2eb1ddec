package state

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// rewards serves the accounting of rewards.
type rewards struct {
	source  Source
	horizon *horizon.Horizon
	facts   *factReader
	rounds  *rounds
}

// earliestRound serves the first round of which all app activity is held. Records may begin
// in the middle of a round, so that is the one after it, once it is over.
func (w *rewards) earliestRound(ctx context.Context, r *query.Request) error {
	if err := w.horizon.RequireHistory(ctx); err != nil {
		return err
	}
	watermark, err := w.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	first, _, ok, err := w.source.ActivityRounds(ctx, watermark)
	if err != nil {
		return err
	}
	if ok {
		ok, err = w.rounds.over(ctx, first+1)
	}
	if err != nil {
		return err
	}
	if !ok {
		return query.Errorf(query.NotFound, "No reward accounting data available yet.")
	}
	return r.JSON(map[string]int64{"earliest_round": first + 1})
}

// roundParam reads the number of a round.
func roundParam(r *query.Request) (n int64, text string, err error) {
	if text, err = r.Path("round_number"); err != nil {
		return 0, "", err
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
		return 0, "", query.Errorf(query.Invalid, "Round number %q is not a number.", text)
	}
	return n, strconv.FormatInt(n, 10), nil
}

// ofRound serves what an upstream computed for a round: it takes private configuration
// that history does not have. Without an upstream's word there is nothing to provide, be
// it not yet or at all.
func (w *rewards) ofRound(operation facts.Operation) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		number, round, err := roundParam(r)
		if err != nil {
			return err
		}
		fact, err := w.facts.asked(ctx, facts.Of(operation, round))
		if errors.Is(err, schemas.ErrNotFound) {
			return w.none(ctx, r, number)
		}
		if err != nil {
			return err
		}
		return r.JSON(json.RawMessage(fact.Body))
	}
}

func (w *rewards) none(ctx context.Context, r *query.Request, round int64) error {
	over, err := w.rounds.over(ctx, round)
	if err != nil {
		return err
	}
	status := "Undetermined"
	if over {
		status = "CannotProvide"
	}
	return r.JSON(map[string]string{"status": status})
}

// batch serves a node of the tree of minting allowances.
func (w *rewards) batch(ctx context.Context, r *query.Request) error {
	_, round, err := roundParam(r)
	if err != nil {
		return err
	}
	hash, err := r.Path("batch_hash")
	if err != nil {
		return err
	}
	if _, err := hex.DecodeString(hash); err != nil {
		return query.Errorf(query.Invalid, "Batch hash %q is not hexadecimal.", hash)
	}
	fact, err := w.facts.asked(ctx, facts.Of(facts.RewardBatch, round, hash))
	if err != nil {
		return unknown(err, "batch "+hash+" of round "+round)
	}
	return r.JSON(json.RawMessage(fact.Body))
}
