package network

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/opened_rounds.sql
	openedRoundsQuery string
	//go:embed sql/rounds_numbered.sql
	roundsNumberedQuery string
)

// Phase is what a contract of a round says of it.
type Phase string

// The phases, in the order of a round's life.
const (
	Open        Phase = "open"
	Summarizing Phase = "summarizing"
	Issuing     Phase = "issuing"
	Closed      Phase = "closed"
)

// Round is a contract of a mining round: a phase of its life.
type Round struct {
	Number int64
	Phase  Phase
	// Price is what a coin costs in dollars, of an open or summarizing round; else "".
	Price string
	// OpensAt and ClosesAt are when it can be used, of open and issuing rounds; ClosesAt is what is aimed at. Both
	// may be zero.
	OpensAt, ClosesAt schemas.Micros
	// Issuance is what coupons are worth in coins, of issuing and closed rounds: names and amounts in turn.
	Issuance []Share
	Contract Contract
}

// Share is what a coupon of a kind is worth.
type Share struct{ Kind, Amount string }

// phases are the templates of rounds.
var phases = []struct {
	template string
	phase    Phase
}{
	{template.OpenMiningRound, Open}, {template.SummarizingMiningRound, Summarizing},
	{template.IssuingMiningRound, Issuing}, {template.ClosedMiningRound, Closed},
}

func roundTemplates() (list []string) {
	for _, p := range phases {
		list = append(list, p.template)
	}
	return values.Spellings(list...)
}

// phaseOf is that of a contract, "" of any other contract.
func phaseOf(c *Contract) Phase {
	for _, p := range phases {
		if template.Is(p.template, c.Event.PackageName, c.Event.TemplateID) || isNeutral(c, p.template) {
			return p.phase
		}
	}
	return ""
}

// isNeutral reports whether a contract is of a template in the other spelling.
func isNeutral(c *Contract, name string) bool {
	return template.Is(values.Neutral(name), c.Event.PackageName, c.Event.TemplateID)
}

// roundJSON is what the contracts of rounds say.
type roundJSON struct {
	Round    roundRef `json:"round"`
	Price    string   `json:"amuletPrice"`
	OpensAt  string   `json:"opensAt"`
	ClosesAt string   `json:"targetClosesAt"`

	Validator  string `json:"issuancePerValidatorRewardCoupon"`
	Featured   string `json:"issuancePerFeaturedAppRewardCoupon"`
	Unfeatured string `json:"issuancePerUnfeaturedAppRewardCoupon"`
	Operator   string `json:"issuancePerSvRewardCoupon"`
	Liveness   string `json:"optIssuancePerValidatorFaucetCoupon"`
}

func roundOf(c *Contract) (Round, error) {
	var payload roundJSON
	r := Round{Phase: phaseOf(c), Contract: *c}
	if err := c.decode(&payload); err != nil {
		return r, err
	}
	r.Price, r.Number = payload.Price, payload.Round.number()
	if r.Number < 0 {
		return r, fmt.Errorf("reading contract %.80q: it has round number %.20q", c.ID(), payload.Round.Number)
	}
	for text, at := range map[string]*schemas.Micros{payload.OpensAt: &r.OpensAt, payload.ClosesAt: &r.ClosesAt} {
		if text == "" {
			continue
		}
		var err error
		if *at, err = schemas.ParseTime(text); err != nil {
			return r, fmt.Errorf("reading round %d in contract %.80q: %w", r.Number, c.ID(), err)
		}
	}
	for _, s := range []Share{
		{"Featured app", payload.Featured}, {"Unfeatured app", payload.Unfeatured}, {"Validator", payload.Validator},
		{"Validator liveness", payload.Liveness}, {"Operator", payload.Operator},
	} {
		if s.Amount != "" {
			r.Issuance = append(r.Issuance, s)
		}
	}
	return r, nil
}

// maxRounds is more rounds than are ever active at once.
const maxRounds = 1000

// Rounds reads the rounds that are active at an instant, by number.
func (r *Reader) Rounds(ctx context.Context, at Instant) ([]Round, error) {
	q := query(at, maxRounds)
	q.Templates = roundTemplates()
	list, err := r.active(ctx, q)
	if err != nil {
		return nil, err
	}
	rounds, err := decoded(list, roundOf)
	slices.SortStableFunc(rounds, func(a, b Round) int { return cmp.Compare(a.Number, b.Number) })
	return rounds, err
}

// roundParams are the parameters of queries for contracts of rounds in all of history up to an instant.
func (r *Reader) roundParams(at Instant, templates []string) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(at.MigrationID), "at": store.Time(store.Clamp(at.At)), "templates": store.Texts(templates),
	}
}

// Opened returns rounds as they were opened up to an instant, over or not, that were created before another one: the
// newest first.
func (r *Reader) Opened(ctx context.Context, at Instant, before schemas.Micros, limit int) ([]Round, error) {
	params := r.roundParams(at, values.Spellings(template.OpenMiningRound))
	params["before"], params["limit"] = store.Time(store.Clamp(before)), store.Int(int64(limit))
	return r.rounds(ctx, openedRoundsQuery, params)
}

// Life returns the contracts of a round up to an instant, in the order of its life: none of a round that is not known.
func (r *Reader) Life(ctx context.Context, at Instant, number int64) ([]Round, error) {
	params := r.roundParams(at, roundTemplates())
	params["number"] = store.Text(strconv.FormatInt(number, 10))
	list, err := r.rounds(ctx, roundsNumberedQuery, params)
	return slices.DeleteFunc(list, func(one Round) bool { return one.Number != number }), err
}

func (r *Reader) rounds(ctx context.Context, query string, params store.Params) ([]Round, error) {
	rows, err := store.SelectAll[history.StateContract](ctx, r.db, query, params, store.NewStateContracts())
	if err != nil {
		return nil, fmt.Errorf("reading rounds: %w", err)
	}
	return decoded(r.compacted(rows), roundOf)
}
