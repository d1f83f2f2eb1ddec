package network

import (
	"context"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// governanceView is who governs the network and what they vote on.
type governanceView struct {
	rules    network.Rules
	requests []network.OpenRequest
	prices   []network.PriceVote
	results  []network.Result
	older    string
	first    bool
}

// resultRows is how many results of votes a page has.
const resultRows = 20

// governance shows the rules, the operators, and what they vote on.
func (s *Network) governance(ctx context.Context, v *page.View) (page.Page, error) {
	view := governanceView{first: v.Param("before") == ""}
	place, ok := accounts.ParsePlace(v.Param("before"))
	if !ok || place.MigrationID < 0 {
		return page.Page{}, errPlace
	}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if ok {
		if err := s.addGovernance(ctx, &view, at, place.Position); err != nil {
			return page.Page{}, err
		}
	}
	return page.Page{Title: "Governance", Section: page.Governance, Body: governance(v, view)}, nil
}

func (s *Network) addGovernance(ctx context.Context, view *governanceView, at network.Instant, before schemas.Position) error {
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) { view.rules, err = s.cfg.Network.Rules(ctx, at); return err })
	group.Go(func() (err error) { view.requests, err = s.cfg.Network.Requests(ctx, at); return err })
	group.Go(func() (err error) { view.prices, err = s.cfg.Network.PriceVotes(ctx, at); return err })
	group.Go(func() (err error) {
		var more *schemas.Position
		if view.results, more, err = s.cfg.Network.Results(ctx, at, before, resultRows); more != nil {
			view.older = withParams("/governance", "before", accounts.Place{Position: *more}.String())
		}
		return err
	})
	return group.Wait()
}

// accepting counts the votes for a request.
func accepting(r *network.Request) (n int) {
	for _, vote := range r.Votes {
		if vote.Accept {
			n++
		}
	}
	return n
}

// actionText is an action as people read it: SRARC_UpdateSvRewardWeight is Update Sv Reward Weight.
func actionText(action string) string {
	if i := strings.IndexByte(action, '_'); i >= 0 {
		action = action[i+1:]
	}
	var b strings.Builder
	for i, c := range action {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// outcomeText is how a vote ended in a word, and its class of style.
func outcomeText(outcome string) (text, class string) {
	text = strings.ToLower(strings.TrimPrefix(outcome, "VRO_"))
	switch text {
	case "accepted":
		return text, "good"
	case "rejected":
		return text, "bad"
	}
	return text, "warn"
}

func outcomeWord(r *network.Result) string {
	text, _ := outcomeText(r.Outcome)
	return text
}

func outcomeClass(r *network.Result) string {
	_, class := outcomeText(r.Outcome)
	return class
}
