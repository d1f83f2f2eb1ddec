package network

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed sql/ends_before.sql
var endsBeforeQuery string

// Request is what operators vote on.
type Request struct {
	Requester string
	// Action is what shall be done, such as SRARC_UpdateSvRewardWeight, and Details its value in JSON.
	Action  string
	Details json.RawMessage
	// Reason and URL are whatever the requester wrote.
	Reason, URL string
	// Before is until when votes count, Effective when the action is to take effect: zero for at once.
	Before, Effective schemas.Micros
	Votes             []Vote
	// Tracking is the id of the first contract of the request.
	Tracking string
}

// Vote is that of an operator.
type Vote struct {
	Operator, Party string
	Accept          bool
	Reason, URL     string
	CastAt          schemas.Micros
}

// requestJSON is a request in compact JSON.
type requestJSON struct {
	Requester string `json:"requester"`
	Action    struct {
		Tag   string                     `json:"tag"`
		Value map[string]json.RawMessage `json:"value"`
	} `json:"action"`
	Reason    reasonJSON           `json:"reason"`
	Before    string               `json:"voteBefore"`
	Effective string               `json:"targetEffectiveAt"`
	Votes     [][2]json.RawMessage `json:"votes"`
	Tracking  string               `json:"trackingCid"`
}

type reasonJSON struct {
	URL  string `json:"url"`
	Body string `json:"body"`
}

func (q *requestJSON) request() (Request, error) {
	r := Request{
		Requester: q.Requester, Action: q.Action.Tag, Reason: q.Reason.Body, URL: q.Reason.URL,
		Before: timeOrNone(q.Before), Effective: timeOrNone(q.Effective), Tracking: q.Tracking,
	}
	for _, inner := range q.Action.Value { // there is one, named by who acts
		var action struct {
			Tag   string          `json:"tag"`
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(inner, &action) == nil && action.Tag != "" {
			r.Action, r.Details = action.Tag, action.Value
		}
	}
	for _, entry := range q.Votes {
		var vote struct {
			SV     string     `json:"sv"`
			Accept bool       `json:"accept"`
			Reason reasonJSON `json:"reason"`
			CastAt string     `json:"optCastAt"`
		}
		var name string
		if err := json.Unmarshal(entry[0], &name); err != nil {
			return r, err
		}
		if err := json.Unmarshal(entry[1], &vote); err != nil {
			return r, err
		}
		r.Votes = append(r.Votes, Vote{name, vote.SV, vote.Accept, vote.Reason.Body, vote.Reason.URL, timeOrNone(vote.CastAt)})
	}
	return r, nil
}

// OpenRequest is a request that is voted on.
type OpenRequest struct {
	Request
	Contract Contract
}

// maxVotes is the most open requests, and votes on the price, that are read.
const maxVotes = 200

// Requests returns the open requests at an instant, oldest first, at most 200.
func (r *Reader) Requests(ctx context.Context, at Instant) ([]OpenRequest, error) {
	list, err := r.Active(ctx, at, maxVotes, template.VoteRequest)
	if err != nil {
		return nil, err
	}
	return decoded(list, func(c *Contract) (OpenRequest, error) {
		var payload requestJSON
		if err := c.decode(&payload); err != nil {
			return OpenRequest{}, err
		}
		request, err := payload.request()
		if err != nil {
			return OpenRequest{}, fmt.Errorf("reading the votes of contract %.80q: %w", c.ID(), err)
		}
		request.Tracking = cmp.Or(request.Tracking, c.ID())
		return OpenRequest{request, *c}, nil
	})
}

// PriceVote is what an operator says a coin costs.
type PriceVote struct {
	Operator  string // its party
	Price     string // in dollars, "" for no opinion
	UpdatedAt schemas.Micros
	Contract  Contract
}

// PriceVotes returns the votes on the price at an instant, by price.
func (r *Reader) PriceVotes(ctx context.Context, at Instant) ([]PriceVote, error) {
	list, err := r.Active(ctx, at, maxVotes, template.CoinPriceVote)
	if err != nil {
		return nil, err
	}
	votes, err := decoded(list, func(c *Contract) (PriceVote, error) {
		var payload struct {
			SV        string `json:"sv"`
			Price     string `json:"amuletPrice"`
			UpdatedAt string `json:"lastUpdatedAt"`
		}
		if err := c.decode(&payload); err != nil {
			return PriceVote{}, err
		}
		return PriceVote{payload.SV, payload.Price, timeOrNone(payload.UpdatedAt), *c}, nil
	})
	slices.SortStableFunc(votes, func(a, b PriceVote) int {
		return cmp.Or(cmp.Compare(len(a.Price), len(b.Price)), cmp.Compare(a.Price, b.Price))
	})
	return votes, err
}

// Result is how a vote ended.
type Result struct {
	Request
	// Outcome is VRO_Accepted, VRO_Rejected or VRO_Expired.
	Outcome     string
	CompletedAt schemas.Micros
	Abstaining  []string
	// Effective, of an accepted one, is when it takes effect.
	Effective schemas.Micros
	// Update is the one that closed the vote.
	Update schemas.Position
}

const (
	// endsAtATime is how many ends of requests are looked at in one step: each vote ends a contract, too.
	endsAtATime = 400
	// maxSteps bounds how far a page of results looks.
	maxSteps = 10
)

// Results returns how votes ended that were closed before a position, the latest first: about limit, and all of the
// last instant. more is where to look for further ones, nil if there are none.
func (r *Reader) Results(ctx context.Context, at Instant, before schemas.Position, limit int) (list []Result, more *schemas.Position, err error) {
	place := schemas.Position{MigrationID: min(before.MigrationID, at.MigrationID), RecordTime: before.RecordTime}
	if before.MigrationID > at.MigrationID {
		place.RecordTime = schemas.MaxMicros
	}
	for range maxSteps {
		times, err := r.endsBefore(ctx, at, place)
		if err != nil {
			return nil, nil, err
		}
		found, err := r.closedAt(ctx, place.MigrationID, times)
		if err != nil {
			return nil, nil, err
		}
		for _, one := range found {
			if len(list) >= limit && one.Update.RecordTime != list[len(list)-1].Update.RecordTime {
				last := list[len(list)-1].Update
				return list, &last, nil
			}
			list = append(list, one)
		}
		switch {
		case len(times) == endsAtATime:
			place.RecordTime = times[len(times)-1]
		case place.MigrationID == 0:
			return list, nil, nil
		default:
			place = schemas.Position{MigrationID: place.MigrationID - 1, RecordTime: schemas.MaxMicros}
		}
	}
	return list, &place, nil
}

// endsBefore returns when requests of a migration ended before a place, descending.
func (r *Reader) endsBefore(ctx context.Context, at Instant, place schemas.Position) ([]schemas.Micros, error) {
	until := at.At
	if place.MigrationID < at.MigrationID {
		until = math.MaxInt64
	}
	rows, err := store.SelectAll(ctx, r.db, endsBeforeQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(place.MigrationID), "templates": store.Texts(values.Spellings(template.VoteRequest)),
		"before": store.Time(store.Clamp(place.RecordTime)), "at": store.Time(store.Clamp(until)), "limit": store.Int(endsAtATime),
	}, store.NewRecords[struct {
		At schemas.Micros `column:"archived_at"`
	}]())
	if err != nil {
		return nil, fmt.Errorf("reading the ends of votes: %w", err)
	}
	times := make([]schemas.Micros, len(rows))
	for i, row := range rows {
		times[i] = row.At
	}
	return times, nil
}

// closedAt returns the results of votes that were closed at some instants, the latest first.
func (r *Reader) closedAt(ctx context.Context, migration int64, times []schemas.Micros) ([]Result, error) {
	if len(times) == 0 {
		return nil, nil
	}
	exercises, err := r.state.ExercisesAt(ctx, template.DsoRulesCloseVoteRequest, migration, times)
	if err != nil {
		return nil, err
	}
	w := values.Writer{Catalog: r.catalog, Want: schemas.CompactJSON}
	list := make([]Result, len(exercises))
	for i := range exercises {
		u := &exercises[i]
		if list[i], err = resultOf(w.For(u.Encoding).AppendExerciseResult(nil, &u.Events[0])); err != nil {
			return nil, fmt.Errorf("reading the result of a vote in update %.80q: %w", u.UpdateID, err)
		}
		list[i].Update = u.Position()
	}
	slices.Reverse(list)
	return list, nil
}

// resultOf reads the result of closing a request, in compact JSON.
func resultOf(body []byte) (Result, error) {
	var closed struct {
		Request     requestJSON `json:"request"`
		CompletedAt string      `json:"completedAt"`
		Abstaining  []string    `json:"abstainingSvs"`
		Outcome     struct {
			Tag   string `json:"tag"`
			Value struct {
				EffectiveAt string `json:"effectiveAt"`
			} `json:"value"`
		} `json:"outcome"`
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&closed); err != nil {
		return Result{}, err
	}
	request, err := closed.Request.request()
	return Result{
		Request: request, Outcome: closed.Outcome.Tag, CompletedAt: timeOrNone(closed.CompletedAt), Abstaining: closed.Abstaining,
		Effective: timeOrNone(closed.Outcome.Value.EffectiveAt),
	}, err
}
