package scan

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// earliestRound serves the first round of which all app activity is held. Records may begin
// in the middle of a round, so that is the one after it, once it is over.
func (a *API) earliestRound(ctx context.Context, r *query.Request) error {
	if err := a.requireHistory(ctx); err != nil {
		return err
	}
	watermark, err := a.horizon.watermark.Get(ctx)
	if err != nil {
		return err
	}
	first, _, ok, err := a.source.ActivityRounds(ctx, watermark)
	if err != nil {
		return err
	}
	if ok {
		ok, err = a.roundOver(ctx, first+1)
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

// rewards serves what an upstream computed for a round: it takes private configuration
// that history does not have. Without an upstream's word there is nothing to provide, be
// it not yet or at all.
func (a *API) rewards(operation facts.Operation) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		number, round, err := roundParam(r)
		if err != nil {
			return err
		}
		fact, err := a.asked(ctx, facts.Of(operation, round))
		if errors.Is(err, schemas.ErrNotFound) {
			return a.noRewards(ctx, r, number)
		}
		if err != nil {
			return err
		}
		return r.JSON(json.RawMessage(fact.Body))
	}
}

func (a *API) noRewards(ctx context.Context, r *query.Request, round int64) error {
	over, err := a.roundOver(ctx, round)
	if err != nil {
		return err
	}
	status := "Undetermined"
	if over {
		status = "CannotProvide"
	}
	return r.JSON(map[string]string{"status": status})
}

// rewardBatch serves a node of the tree of minting allowances.
func (a *API) rewardBatch(ctx context.Context, r *query.Request) error {
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
	fact, err := a.asked(ctx, facts.Of(facts.RewardBatch, round, hash))
	if err != nil {
		return unknown(err, "batch "+hash+" of round "+round)
	}
	return r.JSON(json.RawMessage(fact.Body))
}
