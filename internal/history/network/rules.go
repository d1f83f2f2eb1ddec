package network

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Rules are the network's rules with the party that governs it. Contracts are nil where there are none.
type Rules struct {
	// Governance is the party that governs the network, "" if none is known.
	Governance string
	Operators  []Operator
	// Threshold is how many operators must agree.
	Threshold int64
	Delegate  string
	Epoch     int64
	Coin, Own *Contract // the rules of the coin, and of the governance party
}

// Operator is a member of the governance party.
type Operator struct {
	Party, Name, Participant string
	// Weight is that of its rewards, and JoinedRound the first round that it has them in.
	Weight, JoinedRound int64
}

// Operator returns a member by its party.
func (r *Rules) Operator(party string) (Operator, bool) {
	for _, o := range r.Operators {
		if o.Party == party {
			return o, true
		}
	}
	return Operator{}, false
}

// maxRules is more contracts of rules than are ever active at once.
const maxRules = 20

// Rules reads the rules at an instant.
func (r *Reader) Rules(ctx context.Context, at Instant) (Rules, error) {
	var rules Rules
	list, err := r.Active(ctx, at, maxRules, template.CoinRules, template.DsoRules)
	if err != nil {
		return rules, err
	}
	for i := range list { // the newest one counts
		c := &list[i]
		if template.Is(template.CoinRules, c.Event.PackageName, c.Event.TemplateID) || isNeutral(c, template.CoinRules) {
			rules.Coin = c
		} else {
			rules.Own = c
		}
	}
	for _, c := range []*Contract{rules.Own, rules.Coin} {
		var payload struct {
			DSO string `json:"dso"`
		}
		if c == nil {
			continue
		}
		if err := c.decode(&payload); err != nil {
			return rules, err
		}
		rules.Governance = payload.DSO
	}
	return rules, rules.addOperators()
}

// operatorJSON is what the rules say of an operator.
type operatorJSON struct {
	Name        string   `json:"name"`
	Participant string   `json:"participantId"`
	Weight      string   `json:"svRewardWeight"`
	Joined      roundRef `json:"joinedAsOfRound"`
}

// addOperators reads the map of operators out of the rules of the governance party.
func (r *Rules) addOperators() error {
	if r.Own == nil {
		return nil
	}
	var payload struct {
		SVs      [][2]json.RawMessage `json:"svs"`
		Delegate string               `json:"dsoDelegate"`
		Epoch    string               `json:"epoch"`
	}
	if err := r.Own.decode(&payload); err != nil {
		return err
	}
	r.Delegate = payload.Delegate
	r.Epoch, _ = strconv.ParseInt(payload.Epoch, 10, 64) // newer rules may have none
	for _, entry := range payload.SVs {
		var o Operator
		var info operatorJSON
		if err := json.Unmarshal(entry[0], &o.Party); err != nil {
			return fmt.Errorf("reading the operators of contract %.80q: %w", r.Own.ID(), err)
		}
		if err := json.Unmarshal(entry[1], &info); err != nil {
			return fmt.Errorf("reading operator %.80q of contract %.80q: %w", o.Party, r.Own.ID(), err)
		}
		o.Name, o.Participant = info.Name, info.Participant
		o.Weight, _ = strconv.ParseInt(info.Weight, 10, 64) // early rules have none
		o.JoinedRound = info.Joined.number()
		r.Operators = append(r.Operators, o)
	}
	r.Threshold = threshold(int64(len(r.Operators)))
	return nil
}

// threshold is how many of n operators must agree: more than two thirds, rounded as the governance rules do.
func threshold(n int64) int64 {
	faulty := max(n-1, 0) / 3
	return (n + faulty + 2) / 2 // the half of n + faulty + 1, rounded up
}

// roundRef is a round in compact JSON.
type roundRef struct {
	Number string `json:"number"`
}

// number is the round, -1 if there is none.
func (r roundRef) number() int64 {
	n, err := strconv.ParseInt(r.Number, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
