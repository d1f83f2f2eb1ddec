package state

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

type receivedFaucets struct {
	FirstRound int64  `json:"firstCollectedInRound"`
	LastRound  int64  `json:"lastCollectedInRound"`
	Collected  int64  `json:"numRoundsCollected"`
	Missed     int64  `json:"numRoundsMissed"`
	Validator  string `json:"validator"`
}

// validators serves licenses and the activity of validators.
type validators struct {
	contracts   *contracts
	maxPageSize int
}

// faucets serves in how many rounds validators were active, by the order asked
// for; those without a license, or without activity, are left out.
func (v *validators) faucets(ctx context.Context, r *query.Request) error {
	p := r.Query()
	ids := p.AllTexts("validator_ids")
	if err := p.Err(); err != nil {
		return err
	}
	list := []receivedFaucets{}
	for i, validator := range ids {
		if slices.Contains(ids[:i], validator) {
			continue
		}
		f, ok, err := v.faucetsOf(ctx, validator)
		if err != nil {
			return err
		}
		if ok {
			list = append(list, f)
		}
	}
	return r.JSON(map[string]any{"validatorsReceivedFaucets": list})
}

func (v *validators) faucetsOf(ctx context.Context, validator string) (f receivedFaucets, ok bool, err error) {
	q, _, err := v.contracts.of(ctx, template.ValidatorLicense)
	if err != nil || validator == "" {
		return f, false, err
	}
	q.Observer = validator
	licenses, err := v.contracts.read(ctx, q)
	if err != nil {
		return f, false, err
	}
	for i := len(licenses) - 1; i >= 0; i-- {
		if f, ok, err = licenses[i].faucets(); err != nil || ok && f.Validator == validator {
			return f, ok, err
		}
	}
	return receivedFaucets{}, false, nil
}

// faucets reads a license; ok is false if its validator has not collected yet.
func (c *contract) faucets() (f receivedFaucets, ok bool, err error) {
	var payload struct {
		Validator string `json:"validator"`
		Faucets   *struct {
			First  roundRef `json:"firstReceivedFor"`
			Last   roundRef `json:"lastReceivedFor"`
			Missed string   `json:"numCouponsMissed"`
		} `json:"faucetState"`
	}
	if err := c.decode(&payload); err != nil || payload.Faucets == nil {
		return f, false, err
	}
	first, err1 := payload.Faucets.First.number()
	last, err2 := payload.Faucets.Last.number()
	missed, err3 := strconv.ParseInt(payload.Faucets.Missed, 10, 64)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return f, false, fmt.Errorf("faucet state of license %s: %w", c.Event.ContractID, err)
		}
	}
	return receivedFaucets{first, last, last - first + 1 - missed, missed, payload.Validator}, true, nil
}

// A page token of licenses is a number: the creation time of the page's last contract and
// how many of that time have been given, which is rarely more than one.
const maxSameTime = 1 << 10

// licenses serves the licenses of validators, newest first.
func (v *validators) licenses(ctx context.Context, r *query.Request) error {
	p := r.Query()
	after, paged := p.OptionalInt64("after")
	limit := p.OptionalLimit("limit", v.maxPageSize)
	if paged && after < 0 && p.Err() == nil {
		p.Fail("Query parameter after must be the token of an earlier page.")
	}
	if err := p.Err(); err != nil {
		return err
	}
	from, skip := schemas.MaxMicros, 0
	if paged {
		from, skip = schemas.Micros(after/maxSameTime), int(after%maxSameTime)
	}
	q, _, err := v.contracts.of(ctx, template.ValidatorLicense)
	if err != nil {
		return err
	}
	q.Limit = skip + limit + 1
	rows, err := v.contracts.source.StateContractsNewest(ctx, q, from)
	if err != nil {
		return err
	}
	// Some of those that were given may have ended since.
	given := 0
	for given < min(skip, len(rows)) && rows[given].Event.CreatedAt == from {
		given++
	}
	rows = rows[given:]
	more := len(rows) > limit
	list := v.contracts.compacted(rows[:min(limit, len(rows))])
	if err := v.contracts.addBlobs(ctx, list); err != nil {
		return err
	}
	answers := make([]*query.ContractView, len(list))
	for i := range list {
		answers[i] = list[i].answer()
	}
	answer := map[string]any{"validator_licenses": answers}
	if more {
		token, err := licenseToken(list, from, given)
		if err != nil {
			return err
		}
		answer["next_page_token"] = token
	}
	return r.JSON(answer)
}

// licenseToken is the token behind the contracts of a page, which began at a creation time
// of which given ones were given before.
func licenseToken(list []contract, from schemas.Micros, given int) (int64, error) {
	last := list[len(list)-1].Event.CreatedAt
	same := 0
	for i := len(list) - 1; i >= 0 && list[i].Event.CreatedAt == last; i-- {
		same++
	}
	if last == from {
		same += given
	}
	if same >= maxSameTime || last < 0 {
		return 0, fmt.Errorf("%d licenses were created at %s: a page token cannot tell them apart", same, last)
	}
	return int64(last)*maxSameTime + int64(same), nil
}
