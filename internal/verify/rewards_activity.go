package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/rewards"
)

// svEntry is a part of an entry of the super-validators: the party, or what is known of it.
type svEntry struct{ ParticipantID string }

// UnmarshalJSON reads the text of a party, which says nothing here, or a record.
func (e *svEntry) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return nil
	}
	var info struct{ ParticipantID string }
	if err := json.Unmarshal(raw, &info); err != nil {
		return err
	}
	*e = info
	return nil
}

// roundActivity compares the activity that was recorded of a round with its verdicts.
type roundActivity struct {
	*rewardCheck
	openingState
	round   *rewardRound
	weights map[string]int64 // as recorded, by party
}

// activityOf returns the weights of a round that the recorded activity comes to, in bytes by party,
// and compares each record with the verdict that it is of. known is false where history has not
// who the super-validators were.
func (r *rewardCheck) activityOf(ctx context.Context, round *rewardRound) (weights map[string]int64, known bool, err error) {
	a := &roundActivity{rewardCheck: r, round: round, weights: make(map[string]int64)}
	if a.openingState, err = r.stateAt(ctx, round.opensAt); err != nil || a.superValidators == nil {
		return nil, false, err
	}
	rg := history.Range{After: before(round.from), Through: before(round.until), Limit: rewardVerdictsPage}
	for {
		items, err := r.cfg.Public.Verdicts(ctx, rg)
		if err != nil {
			return nil, false, err
		}
		for i := range items {
			if err := a.add(&items[i]); err != nil {
				return nil, false, err
			}
		}
		r.check.Count("verdicts", int64(len(items)))
		if len(items) < rg.Limit {
			return a.weights, true, nil
		}
		rg.After = items[len(items)-1].Position()
	}
}

// before is the last position before all of an instant's.
func before(p schemas.Position) schemas.Position {
	p.RecordTime, p.UpdateID = p.RecordTime-1, "~" // ids are hexadecimal digits
	return p
}

// add adds what was recorded of a transaction.
func (a *roundActivity) add(it *schemas.Item) error {
	expected, err := a.expected(it)
	if err != nil {
		return fmt.Errorf("reading the verdict at %s: %w", it.Position(), err)
	}
	recorded := make(map[string]int64)
	if it.AppActivity != nil {
		if recorded, err = a.recorded(it.AppActivity, where(it.Position())); err != nil {
			return fmt.Errorf("reading the app activity at %s: %w", it.Position(), err)
		}
	}
	parties := slices.Sorted(maps.Keys(recorded))
	for party := range expected {
		if _, ok := recorded[party]; !ok {
			parties = append(parties, party)
		}
	}
	for _, party := range parties {
		if expected[party] != recorded[party] {
			a.check.Add(Finding{
				What: "activity of an app", Where: fmt.Sprintf("round %d, party %s, %s", a.round.number, party, where(it.Position())),
				Expected: fmt.Sprintf("%d bytes", expected[party]), Found: fmt.Sprintf("%d bytes", recorded[party]),
			})
		}
	}
	return nil
}

// recorded adds what was recorded to the weights, and returns it, in bytes by party.
func (a *roundActivity) recorded(activity *schemas.AppActivity, at string) (map[string]int64, error) {
	var list []struct {
		Party  string
		Weight int64
	}
	if err := json.Unmarshal(activity.Records, &list); err != nil {
		return nil, err
	}
	a.check.Count("activity_records", int64(len(list)))
	ours := activity.RoundNumber == a.round.number
	if !ours {
		a.check.Add(Finding{What: "round of app activity", Where: fmt.Sprintf("round %d, %s", a.round.number, at), Expected: fmt.Sprint(a.round.number), Found: fmt.Sprint(activity.RoundNumber)})
	}
	recorded := make(map[string]int64)
	for _, r := range list {
		recorded[r.Party] += r.Weight
		if ours {
			a.weights[r.Party] += r.Weight
		}
	}
	return recorded, nil
}

// expected is what activity follows from a verdict, in bytes by party.
func (a *roundActivity) expected(it *schemas.Item) (map[string]int64, error) {
	v := it.Verdict
	if it.Traffic == nil || it.Traffic.TotalCost > rewards.MaxTrafficCost || v.Result != "VERDICT_RESULT_ACCEPTED" ||
		v.RecordTime < a.round.opensAt || a.superValidators[v.SubmittingParticipantUID] {
		return nil, nil
	}
	var traffic []struct {
		Cost  int64   `json:"traffic_cost"`
		Views []int64 `json:"view_ids"`
	}
	if err := json.Unmarshal(it.Traffic.Envelopes, &traffic); err != nil {
		return nil, err
	}
	confirmers, err := confirmersOf(v.Views)
	if err != nil {
		return nil, err
	}
	envelopes := make([]rewards.Envelope, len(traffic))
	for i, e := range traffic {
		envelopes[i].Cost = e.Cost
		for _, view := range e.Views {
			envelopes[i].Confirmers = append(envelopes[i].Confirmers, confirmers[view]...)
		}
		slices.Sort(envelopes[i].Confirmers)
		envelopes[i].Confirmers = slices.Compact(envelopes[i].Confirmers)
	}
	return rewards.Activity(envelopes, it.Traffic.TotalCost, a.featured), nil
}

// confirmersOf are the parties that confirm each view of a transaction, by its id.
func confirmersOf(text []byte) (map[int64][]string, error) {
	var transaction struct {
		Views []struct {
			ID         int64                        `json:"view_id"`
			Confirming []struct{ Parties []string } `json:"confirming_parties"`
		}
	}
	if err := json.Unmarshal(text, &transaction); err != nil {
		return nil, err
	}
	confirmers := make(map[int64][]string)
	for _, v := range transaction.Views {
		for _, c := range v.Confirming {
			confirmers[v.ID] = append(confirmers[v.ID], c.Parties...)
		}
	}
	return confirmers, nil
}
