package scanapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// voted answers with all active contracts of a template.
func (s *stateServer) voted(t *model.Template, member string) handler {
	return func(*http.Request) (any, error) {
		return map[string]any{member: contractAnswers(s.ledger, s.ledger.OfTemplate(t, nil))}, nil
	}
}

// requestsTracked are the open requests that are tracked by one of the ids.
func (s *stateServer) requestsTracked(ids ...string) []*ContractAnswer {
	return contractAnswers(s.ledger, s.ledger.OfTemplate(model.VoteRequestTemplate, func(c *model.Contract) bool {
		tracking := cmp.Or(c.Payload.(model.VoteRequest).Tracking, c.Number)
		return slices.Contains(ids, string(s.ledger.Names.IDs.AppendContractID(nil, tracking)))
	}))
}

type voteRequestsRequest struct {
	IDs []string `json:"vote_request_contract_ids"`
}

func (s *stateServer) voteRequestsByID(_ *http.Request, q *voteRequestsRequest) (any, error) {
	if q.IDs == nil || len(q.IDs) > reply.MaxPage {
		return nil, reply.BadRequest("vote_request_contract_ids: up to %d, not %d", reply.MaxPage, len(q.IDs))
	}
	return map[string]any{"vote_requests": s.requestsTracked(q.IDs...)}, nil
}

func (s *stateServer) voteRequest(r *http.Request) (any, error) {
	found := s.requestsTracked(r.PathValue("id"))
	if len(found) == 0 {
		return nil, reply.NotFound("No vote request found: %s", r.PathValue("id"))
	}
	return map[string]any{"dso_rules_vote_request": found[0]}, nil
}

// voteFilter selects results of votes.
type voteFilter struct {
	Action    string `json:"actionName"`
	Accepted  *bool  `json:"accepted"`
	Requester string `json:"requester"`
	From      string `json:"effectiveFrom"`
	To        string `json:"effectiveTo"`
}

// closedVote is a result with its number in history, from 1.
type closedVote struct {
	model.ClosedVote
	number int64
}

// effective is the time of an accepted one as text.
func (c *closedVote) effective() (text string, ok bool) {
	return string(schemas.AppendShortTime(nil, schemas.Micros(c.CompletedAt))), c.Outcome == model.Accepted
}

func (f *voteFilter) selects(l *ledger.Ledger, c *closedVote) bool {
	var a model.Arena
	action := c.ActionValue(&a, c.Version).Elems[0].Elems[0].Text
	if !strings.Contains(action, f.Action) || !strings.Contains(l.Names.SvName(c.Requester), f.Requester) {
		return false
	}
	effective, ok := c.effective()
	if f.Accepted != nil && *f.Accepted != ok {
		return false
	}
	switch from, to := f.From != "", f.To != ""; {
	case from && to:
		return ok && effective >= f.From && effective <= f.To
	case from:
		return ok && effective > f.From
	case to:
		return ok && effective < f.To
	}
	return true
}

// votesClosed are the results that a filter selects, the latest first.
func (s *stateServer) votesClosed(f *voteFilter) (list []closedVote) {
	s.ledger.Mu.Lock()
	all := s.ledger.Executor.Votes.Closed // only ever appended to
	s.ledger.Mu.Unlock()
	for i, c := range slices.Backward(all) { // they are closed in the order of time
		if one := (closedVote{c, int64(i) + 1}); f.selects(s.ledger, &one) {
			list = append(list, one)
		}
	}
	return list
}

type voteResultsRequest struct {
	voteFilter
	Limit *int32 `json:"limit"`
	Token *int64 `json:"pageToken"`
}

func (s *stateServer) voteResults(_ *http.Request, q *voteResultsRequest) (any, error) {
	if err := checkLimit("limit", q.Limit); err != nil {
		return nil, err
	}
	page := s.votesClosed(&q.voteFilter)
	if q.Token != nil {
		page = slices.DeleteFunc(page, func(c closedVote) bool { return c.number >= *q.Token })
	}
	page = page[:min(len(page), int(*q.Limit))]
	results := []json.RawMessage{}
	for _, c := range page {
		var a model.Arena
		result := c.Result(&a)
		results = append(results, model.AppendCompact(nil, s.ledger.Names, &result))
	}
	answer := map[string]any{"dso_rules_vote_results": results}
	if len(page) > 0 {
		answer["next_page_token"] = page[len(page)-1].number
	}
	return answer, nil
}

func (s *stateServer) countVoteResults(_ *http.Request, q *voteFilter) (any, error) {
	return map[string]int{"count": len(s.votesClosed(q))}, nil
}

type previousWeightRequest struct {
	Sv     *string `json:"svParty"`
	Before *string `json:"effectiveBefore"`
}

func (s *stateServer) previousWeight(_ *http.Request, q *previousWeightRequest) (any, error) {
	if q.Sv == nil {
		return nil, reply.BadRequest("svParty is required")
	}
	for _, c := range s.votesClosed(&voteFilter{}) {
		w, ok := c.Action.(model.RewardWeight)
		effective, accepted := c.effective()
		if ok && accepted && s.ledger.Names.Name(w.Sv) == *q.Sv && (q.Before == nil || effective < *q.Before) {
			return map[string]string{"rewardWeight": strconv.FormatInt(w.Weight, 10)}, nil
		}
	}
	return struct{}{}, nil
}

// roundConfig gives the fees of a round in coins.
func (s *stateServer) roundConfig(r *http.Request) (any, error) {
	number, err := strconv.ParseInt(r.URL.Query().Get("round"), 10, 64)
	if err != nil {
		return nil, reply.BadRequest("round: %q is not a number", r.URL.Query().Get("round"))
	}
	s.ledger.Mu.Lock()
	price, version, ok := s.ledger.Executor.Rounds.Opened(number)
	s.ledger.Mu.Unlock()
	if !ok {
		return nil, reply.NotFound("No open mining round found: %d", number)
	}
	fee, initial, steps := model.TransferFees(version)
	list := []map[string]string{}
	for _, step := range steps {
		list = append(list, map[string]string{"amount": step[0].Over(price).String(), "rate": step[1].String()})
	}
	return map[string]any{
		"amulet_create_fee": fee.Over(price).String(), "holding_fee": model.HoldingFeeUSD.Over(price).String(), "lock_holder_fee": model.Decimal(0).String(),
		"transfer_fee": map[string]any{"initial": initial.String(), "steps": list},
	}, nil
}

// exportActive refuses: only a participant node has contracts in its own form.
func exportActive(*http.Request) (any, error) {
	return nil, &reply.RequestError{Status: http.StatusNotImplemented, Text: "this devnet has no node to export the contracts from, ask for /v2/state/acs"}
}
