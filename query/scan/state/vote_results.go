package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// voteResult is what filters and order need to know of a result: few bytes each, of a few a week.
type voteResult struct {
	// entry is the number of the result in history, from 1. History only ever grows at its end, so
	// all servers of a store number alike.
	entry int64
	place exercisePlace
	// order is when an accepted one takes effect, or else when the vote was closed.
	order schemas.Micros
	// effective is the order of an accepted one as text, else empty.
	effective         string
	action, requester string
	// weightOf is the super-validator whose rewards get a weight, where the vote was about that.
	weightOf, weight string
}

// exercisePlace is where an exercise stands in history.
type exercisePlace struct {
	schemas.Position
	node int32
}

func placeOf(exercise *schemas.Update) exercisePlace {
	return exercisePlace{exercise.Position(), exercise.Events[0].Node}
}

// voteResults remembers the results of all votes up to the present, the latest first.
type voteResults struct {
	contracts *contracts
	known     memo.Value[resultSet]
}

type resultSet struct {
	at   schemas.Position
	list []voteResult
}

// endsAtATime is how many ends of requests are looked at in one query, and maxVoteResults more
// results than are ever expected, about 30 MB.
const (
	endsAtATime    = 1000
	maxVoteResults = 100_000
)

func newVoteResults(c *contracts, ttl time.Duration, now func() time.Time) *voteResults {
	v := &voteResults{contracts: c}
	held := resultSet{at: schemas.Start} // of the load before; loads do not run at the same time
	v.known = memo.Value[resultSet]{TTL: ttl, Now: now, Load: func(ctx context.Context) (resultSet, error) {
		set, err := v.load(ctx, held)
		if err == nil {
			held = set
		}
		return set, err
	}}
	return v
}

// get returns the results, the latest first. They are shared and must not be changed.
func (v *voteResults) get(ctx context.Context) ([]voteResult, error) {
	if err := v.contracts.horizon.RequireHistory(ctx); err != nil {
		return nil, err
	}
	set, err := v.known.Get(ctx)
	return set.list, err
}

// load adds to what is held the results up to the present. Closing a request ends its contract.
func (v *voteResults) load(ctx context.Context, held resultSet) (resultSet, error) {
	at, err := v.contracts.horizon.Present(ctx)
	if err != nil {
		return held, err
	}
	if at.UpdateID == "" { // the end of a migration, and of all at its record time
		at = schemas.EndOf(at.MigrationID, at.RecordTime)
	}
	if !held.at.Before(at) {
		return held, nil
	}
	list := slices.Clone(held.list)
	err = v.contracts.source.EndingPages(ctx,
		history.Ending{Templates: values.Spellings(values.Network(template.VoteRequest)), Choice: template.DsoRulesCloseVoteRequest},
		history.Range{After: held.at, Through: at, Limit: endsAtATime},
		func(found []schemas.Update) error {
			bodies := v.compacted(found)
			for i := range found {
				result := voteResultOf(bodies[i], placeOf(&found[i]))
				result.entry = int64(len(list)) + 1
				list = append(list, result)
			}
			if len(list) > maxVoteResults {
				return fmt.Errorf("there are more than %d results of votes", maxVoteResults)
			}
			return nil
		})
	if err != nil {
		return held, err
	}
	slices.SortFunc(list, func(a, b voteResult) int {
		return cmp.Or(cmp.Compare(b.order, a.order), cmp.Compare(b.entry, a.entry))
	})
	return resultSet{at, list}, nil
}

// closedVote is what matters of the result of closing a request.
type closedVote struct {
	Request struct {
		Requester string `json:"requester"`
		Action    struct {
			Value struct {
				DSO  action `json:"dsoAction"`
				Coin action `json:"amuletRulesAction"`
				Name action `json:"ansEntryContextAction"`
			} `json:"value"`
		} `json:"action"`
	} `json:"request"`
	CompletedAt string `json:"completedAt"`
	Outcome     struct {
		Tag   string `json:"tag"`
		Value struct {
			EffectiveAt string `json:"effectiveAt"`
		} `json:"value"`
	} `json:"outcome"`
}

// action is the inner variant of an action that is voted on, such as SRARC_UpdateSvRewardWeight.
type action struct {
	Tag   string          `json:"tag"`
	Value json.RawMessage `json:"value"`
}

// voteResultOf reads the result of closing a request, in compact JSON, that stands at a place. Of
// one that is not of the known form only the place counts.
func voteResultOf(body []byte, at exercisePlace) voteResult {
	found := voteResult{place: at, order: at.RecordTime}
	var closed closedVote
	if json.Unmarshal(body, &closed) != nil {
		return found
	}
	if t, err := schemas.ParseTime(closed.CompletedAt); err == nil {
		found.order = t
	}
	if t, err := schemas.ParseTime(closed.Outcome.Value.EffectiveAt); err == nil && closed.Outcome.Tag == "VRO_Accepted" {
		found.order, found.effective = t, string(schemas.AppendShortTime(nil, t))
	}
	actions := &closed.Request.Action.Value
	what := cmp.Or(actions.DSO.Tag, actions.Coin.Tag, actions.Name.Tag)
	found.action, found.requester = what, closed.Request.Requester
	var weight struct {
		Party  string `json:"svParty"`
		Weight string `json:"newRewardWeight"`
	}
	if what == "SRARC_UpdateSvRewardWeight" && json.Unmarshal(actions.DSO.Value, &weight) == nil {
		found.weightOf, found.weight = weight.Party, weight.Weight
	}
	return found
}

// compacted gives the results of exercises in compact JSON.
func (v *voteResults) compacted(exercises []schemas.Update) []json.RawMessage {
	w := values.Writer{Catalog: v.contracts.catalog, Want: schemas.CompactJSON}
	bodies := make([]json.RawMessage, len(exercises))
	for i, u := range exercises {
		bodies[i] = w.For(u.Encoding).AppendExerciseResult(nil, &u.Events[0])
	}
	return bodies
}

// bodies reads results as they were given, in the order of the page.
func (v *voteResults) bodies(ctx context.Context, page []voteResult) ([]json.RawMessage, error) {
	times := map[int64][]schemas.Micros{} // by migration
	for _, one := range page {
		times[one.place.MigrationID] = append(times[one.place.MigrationID], one.place.RecordTime)
	}
	found := map[exercisePlace]json.RawMessage{}
	for migration, list := range times {
		exercises, err := v.contracts.source.ExercisesAt(ctx, template.DsoRulesCloseVoteRequest, migration, list)
		if err != nil {
			return nil, err
		}
		for i, body := range v.compacted(exercises) {
			found[placeOf(&exercises[i])] = body
		}
	}
	bodies := make([]json.RawMessage, len(page))
	for i, one := range page {
		body, ok := found[one.place]
		if !ok {
			return nil, fmt.Errorf("the result of a vote at %s is gone", one.place.Position)
		}
		bodies[i] = body
	}
	return bodies, nil
}

// resultFilter selects results. Empty texts take all.
type resultFilter struct {
	action, requester string
	from, to          string
	accepted          *bool
}

func resultFilterOf(p *query.Params) (f resultFilter) {
	f.action, _ = p.OptionalText("actionName")
	f.requester, _ = p.OptionalText("requester")
	f.from, _ = p.OptionalText("effectiveFrom")
	f.to, _ = p.OptionalText("effectiveTo")
	if accepted := p.Bool("accepted"); p.Has("accepted") {
		f.accepted = &accepted
	}
	return f
}

func (f *resultFilter) takes(one *voteResult) bool {
	return strings.Contains(one.action, f.action) && strings.Contains(one.requester, f.requester) &&
		(f.accepted == nil || *f.accepted == (one.effective != "")) && f.inTime(one.effective)
}

// inTime compares times as texts, as the network does: with both bounds these are inclusive, a
// single one is not. What has no effect is in no time.
func (f *resultFilter) inTime(effective string) bool {
	switch {
	case f.from == "" && f.to == "":
		return true
	case effective == "":
		return false
	case f.from == "":
		return effective < f.to
	case f.to == "":
		return effective > f.from
	}
	return f.from <= effective && effective <= f.to
}
