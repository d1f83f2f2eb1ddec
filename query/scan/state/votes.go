package state

import (
	"cmp"
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// votes serves what super-validators vote on: the price of the coin, open requests, and the results
// of closed ones.
type votes struct {
	sets        *contractSets
	results     *voteResults
	maxPageSize int
	naming      query.Naming
}

// maxVotes is the most votes or open requests that an answer has.
const maxVotes = 1000

// onPrice serves the votes on the price of the coin, oldest first.
func (v *votes) onPrice(ctx context.Context, r *query.Request) error {
	return v.answer(ctx, r, r.Naming(v.naming).Member("coin_price_votes"), template.CoinPriceVote)
}

// requests serves all open requests, oldest first.
func (v *votes) requests(ctx context.Context, r *query.Request) error {
	return v.answer(ctx, r, "dso_rules_vote_requests", template.VoteRequest)
}

// answer serves the present contracts of a template as a member of an object.
func (v *votes) answer(ctx context.Context, r *query.Request, member, template string) error {
	list, err := v.sets.get(ctx, template)
	if err != nil {
		return err
	}
	answers := make([]*query.ContractView, min(len(list), maxVotes))
	for i := range answers {
		answers[i] = list[i].answer()
	}
	return r.JSON(map[string][]*query.ContractView{member: answers})
}

// tracked returns the open requests for which wanted says yes to the id by which they are tracked:
// that of their first contract, as each vote makes a new one.
func (v *votes) tracked(ctx context.Context, wanted func(id string) bool) ([]*query.ContractView, error) {
	list, err := v.sets.get(ctx, template.VoteRequest)
	if err != nil {
		return nil, err
	}
	found := []*query.ContractView{}
	for i := range list {
		var request struct {
			Tracking string `json:"trackingCid"`
		}
		if err := list[i].decode(&request); err != nil {
			return nil, err
		}
		if wanted(cmp.Or(request.Tracking, list[i].Event.ContractID)) {
			found = append(found, list[i].answer())
		}
	}
	return found, nil
}

// requestsByID serves the open requests among those whose tracking ids the body names.
func (v *votes) requestsByID(ctx context.Context, r *query.Request) error {
	p := r.Body()
	ids := p.RequiredTexts("vote_request_contract_ids")
	if err := p.Err(); err != nil {
		return err
	}
	found, err := v.tracked(ctx, func(id string) bool { return slices.Contains(ids, id) })
	if err != nil {
		return err
	}
	return r.JSON(map[string][]*query.ContractView{"vote_requests": found})
}

// request serves an open request by its tracking id.
func (v *votes) request(ctx context.Context, r *query.Request) error {
	id, err := r.Path("vote_request_contract_id")
	if err != nil {
		return err
	}
	found, err := v.tracked(ctx, func(tracking string) bool { return tracking == id })
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return query.Errorf(query.NotFound, "No open vote request with the tracking id %s found.", id)
	}
	return r.JSON(map[string]*query.ContractView{"dso_rules_vote_request": found[0]})
}

// resultPage serves a page of the results of votes, the latest first. A token is the number of the
// last result of the page before; the end is an empty page.
func (v *votes) resultPage(ctx context.Context, r *query.Request) error {
	p := r.Body()
	filter := resultFilterOf(p)
	limit := p.Limit("limit", v.maxPageSize)
	token, paged := p.OptionalInt64("pageToken")
	if err := p.Err(); err != nil {
		return err
	}
	all, err := v.results.get(ctx)
	if err != nil {
		return err
	}
	if paged {
		last := slices.IndexFunc(all, func(one voteResult) bool { return one.entry == token })
		if last < 0 {
			return query.Errorf(query.Invalid, "Member pageToken must be the token of an earlier page.")
		}
		all = all[last+1:]
	}
	var page []voteResult
	for i := 0; i < len(all) && len(page) < limit; i++ {
		if filter.takes(&all[i]) {
			page = append(page, all[i])
		}
	}
	bodies, err := v.results.bodies(ctx, page)
	if err != nil {
		return err
	}
	answer := map[string]any{"dso_rules_vote_results": bodies}
	if len(page) > 0 {
		answer["next_page_token"] = page[len(page)-1].entry
	}
	return r.JSON(answer)
}

// countResults serves how many results a filter takes.
func (v *votes) countResults(ctx context.Context, r *query.Request) error {
	p := r.Body()
	filter := resultFilterOf(p)
	if err := p.Err(); err != nil {
		return err
	}
	all, err := v.results.get(ctx)
	if err != nil {
		return err
	}
	count := 0
	for i := range all {
		if filter.takes(&all[i]) {
			count++
		}
	}
	return r.JSON(map[string]int{"count": count})
}

// previousWeight serves the weight that the latest accepted vote on it gave a super-validator's
// rewards, before an instant if one is named.
func (v *votes) previousWeight(ctx context.Context, r *query.Request) error {
	p := r.Body()
	party := p.Text("svParty")
	before, bounded := p.OptionalText("effectiveBefore")
	if err := p.Err(); err != nil {
		return err
	}
	all, err := v.results.get(ctx)
	if err != nil {
		return err
	}
	answer := map[string]string{}
	for i := range all { // the latest first
		if one := &all[i]; one.effective != "" && one.weightOf == party && (!bounded || one.effective < before) {
			answer["rewardWeight"] = one.weight
			break
		}
	}
	return r.JSON(answer)
}
