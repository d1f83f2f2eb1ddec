package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/rewards"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// rewardRound is a round that has been open.
type rewardRound struct {
	number  int64
	opensAt schemas.Micros
	config  *rewards.Config // nil if the round has no rewards for traffic
	// Transactions counted for the round from one position on and before another one: when it was the
	// oldest open round. Positions have no update id.
	from, until schemas.Position
}

// rewardRounds finds rounds by number. It goes through the rounds of history in their order and has
// only those at hand that it has passed lately.
type rewardRounds struct {
	check  *rewardCheck
	pages  *lifetimePages
	recent map[int64]*rewardRound
	newest int64 // the highest number of those that have ended
}

// roundsAtHand is how many rounds are kept, a week of the main network.
const roundsAtHand = 1000

// find returns a round that has ended, nil if history does not have it whole.
func (r *rewardRounds) find(ctx context.Context, number int64) (*rewardRound, error) {
	if r.pages == nil || number < r.newest-roundsAtHand {
		r.pages, r.recent, r.newest = r.check.lifetimes(template.OpenMiningRound), make(map[int64]*rewardRound), -1
	}
	for r.newest < number {
		contracts, err := r.pages.next(ctx)
		if err != nil {
			return nil, err
		}
		if len(contracts) == 0 {
			break
		}
		for i := range contracts {
			if err := r.add(&contracts[i]); err != nil {
				return nil, err
			}
		}
		for n := range r.recent {
			if n < min(number, r.newest-roundsAtHand)-1 {
				delete(r.recent, n)
			}
		}
	}
	round, before := r.recent[number], r.recent[number-1]
	if round == nil || before == nil {
		return nil, nil
	}
	found := *round
	found.from = before.until
	return &found, nil
}

// add adds a round if it has ended: one that was carried over ends in a later migration.
func (r *rewardRounds) add(c *history.StateContract) error {
	if c.ArchivedAt == audit.NeverArchived {
		return nil
	}
	var p openRound
	if err := r.check.decode(c, &p); err != nil {
		return err
	}
	opensAt, err := schemas.ParseTime(p.OpensAt)
	if err != nil {
		return fmt.Errorf("reading contract %.80q: %w", c.Event.ContractID, err)
	}
	n := p.Round.Number
	r.recent[n] = &rewardRound{number: n, opensAt: opensAt, config: p.rewardConfig(), until: schemas.Position{MigrationID: c.MigrationID, RecordTime: c.ArchivedAt}}
	r.newest = max(r.newest, n)
	return nil
}

// openRound is what the contract of an open round has.
type openRound struct {
	Round          roundNumber
	AmuletPrice    decimal.Decimal
	OpensAt        string
	TickDuration   relTime
	TrafficPrice   *decimal.Decimal
	IssuanceConfig struct {
		AmuletToIssuePerYear, AppRewardPercentage, FeaturedAppRewardCap decimal.Decimal
		OptDevelopmentFundPercentage                                    *decimal.Decimal
	}
	RewardConfig *struct {
		BatchSize                int64 `json:",string"`
		AppRewardCouponThreshold decimal.Decimal
	}
}

// relTime is a length of time.
type relTime struct {
	Microseconds int64 `json:",string"`
}

var defaultFundShare = decimal.Must("0.05")

// rewardConfig is nil if the round has no rewards for traffic.
func (p *openRound) rewardConfig() *rewards.Config {
	if p.TrafficPrice == nil || p.RewardConfig == nil {
		return nil
	}
	issuance := &p.IssuanceConfig
	return &rewards.Config{
		IssuedPerYear: issuance.AmuletToIssuePerYear, FundShare: *cmp.Or(issuance.OptDevelopmentFundPercentage, &defaultFundShare),
		AppShare: issuance.AppRewardPercentage, Cap: issuance.FeaturedAppRewardCap, TickMicros: p.TickDuration.Microseconds,
		CoinPrice: p.AmuletPrice, TrafficPrice: *p.TrafficPrice, Threshold: p.RewardConfig.AppRewardCouponThreshold, BatchSize: p.RewardConfig.BatchSize,
	}
}

// lifetimePages hands out the contracts of a template, active or not, migration by migration and by
// the time of their creation. One that was carried over comes in each migration again.
type lifetimePages struct {
	state      *history.State
	template   string
	migrations []int64 // that are left; the first is under way
	since      schemas.Micros
	seen       map[string]bool // contracts that were created at since
	limit      int
}

func (r *rewardCheck) lifetimes(name string) *lifetimePages {
	p := &lifetimePages{state: r.state, template: name, since: audit.BeforeHistory, limit: rewardContractsPage}
	for _, m := range r.migrations {
		p.migrations = append(p.migrations, m.ID)
	}
	return p
}

// next returns the next page, which is empty after the last.
func (p *lifetimePages) next(ctx context.Context) ([]history.StateContract, error) {
	for len(p.migrations) > 0 {
		q := history.StateQuery{MigrationID: p.migrations[0], At: audit.NeverArchived, Templates: []string{p.template}, Limit: p.limit}
		page, err := p.state.StateContractsSince(ctx, q, p.since)
		if err != nil {
			return nil, err
		}
		full := len(page) == p.limit
		fresh := slices.DeleteFunc(slices.Clone(page), func(c history.StateContract) bool { return p.seen[c.Event.ContractID] })
		switch {
		case !full:
			p.migrations, p.since, p.seen, p.limit = p.migrations[1:], audit.BeforeHistory, nil, rewardContractsPage
		case len(fresh) == 0: // more were created at once than fit
			p.limit *= 2
			continue
		default:
			p.turn(page)
		}
		if len(fresh) > 0 {
			return fresh, nil
		}
	}
	return nil, nil
}

// turn has the next page begin with the last instant of this one.
func (p *lifetimePages) turn(page []history.StateContract) {
	if last := page[len(page)-1].Event.CreatedAt; p.seen == nil || last != p.since {
		p.since, p.seen = last, make(map[string]bool)
	}
	for _, c := range page {
		if c.Event.CreatedAt == p.since {
			p.seen[c.Event.ContractID] = true
		}
	}
}

// openingState is what was active when a round opened.
type openingState struct {
	featured        map[string]decimal.Decimal // featured apps with the weights of their activity
	superValidators map[string]bool            // by participant; nil if history does not have the rules that name them
}

// stateAt reads it in one query for both templates, as each costs more than what it finds.
func (r *rewardCheck) stateAt(ctx context.Context, at schemas.Micros) (openingState, error) {
	o := openingState{featured: make(map[string]decimal.Decimal)}
	q := history.StateQuery{At: at, Templates: []string{template.FeaturedAppRight, template.DsoRules}, Limit: rewardContractsPage}
	for _, m := range r.migrations {
		if slices.ContainsFunc(m.Synchronizers, func(s history.SynchronizerRange) bool { return s.Min <= at }) {
			q.MigrationID = m.ID
		}
	}
	for {
		page, err := r.state.StateContracts(ctx, q)
		if err != nil {
			return o, err
		}
		for i := range page {
			if err := r.addTo(&o, &page[i]); err != nil {
				return o, err
			}
		}
		if len(page) < q.Limit {
			return o, nil
		}
		last := page[len(page)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
}

// addTo adds the right of an app, of which it may have several, or the rules.
func (r *rewardCheck) addTo(o *openingState, c *history.StateContract) error {
	var p struct {
		Provider       string
		ActivityWeight *decimal.Decimal
		Svs            [][2]svEntry
	}
	if err := r.decode(c, &p); err != nil {
		return err
	}
	if template.Is(template.DsoRules, c.Event.PackageName, c.Event.TemplateID) {
		o.superValidators = make(map[string]bool)
		for _, entry := range p.Svs {
			o.superValidators[strings.TrimPrefix(entry[1].ParticipantID, "PAR::")] = true
		}
		return nil
	}
	one := decimal.FromInt(1)
	weight := *cmp.Or(p.ActivityWeight, &one)
	if known, ok := o.featured[p.Provider]; !ok || known.Less(weight) {
		o.featured[p.Provider] = weight
	}
	return nil
}
