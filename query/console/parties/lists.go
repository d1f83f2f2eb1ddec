package parties

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// updatesView are updates in which the party signs, observes or acts.
type updatesView struct {
	head
	rows    []explore.Row
	reached *schemas.Position
	older   string
}

// updates lists the updates of a party, the newest first.
func (s *Parties) updates(ctx context.Context, v *page.View) (page.Page, error) {
	h, err := s.open(ctx, v, "/updates")
	if err != nil {
		return page.Page{}, err
	}
	cursor, ok := cursorOf(v.Param("before"))
	if !ok {
		return page.Page{}, errPlace
	}
	filter := explore.Filter{Party: h.account.Party, From: schemas.MinMicros, To: h.account.At}
	feed, err := s.cfg.Explore.Updates(ctx, filter, cursor, pageRows)
	if err != nil {
		return page.Page{}, err
	}
	view := updatesView{head: h, rows: feed.Rows, reached: feed.Reached}
	switch {
	case feed.Reached != nil:
		view.older = h.path("/updates", "before", positionText(*feed.Reached))
	case feed.Older && len(feed.Rows) > 0:
		view.older = h.path("/updates", "before", positionText(feed.Rows[len(feed.Rows)-1].Position))
	}
	return page.Page{Title: "Updates of " + page.Name(h.account.Party), Body: updates(v, view)}, nil
}

// positionText is a position as a parameter of an address, and cursorOf reads it.
func positionText(p schemas.Position) string { return accounts.Place{Position: p}.String() }

func cursorOf(text string) (explore.Cursor, bool) {
	if text == "" {
		return explore.Cursor{}, true
	}
	place, ok := accounts.ParsePlace(text)
	return explore.Cursor{Before: &place.Position}, ok
}

// summary is what an update does, by its first events.
func summary(row *explore.Row) string {
	if row.Kind != schemas.Transaction {
		return string(row.Kind)
	}
	for _, e := range row.Events {
		if e.Kind == schemas.Exercised {
			return e.Choice
		}
	}
	for _, e := range row.Events {
		return "creates " + page.Entity(e.Template)
	}
	return "transaction"
}

// movementsView are movements of an account.
type movementsView struct {
	head
	rows  []accounts.Movement
	older string
}

// movements lists what changed an account, the newest first.
func (s *Parties) movements(ctx context.Context, v *page.View) (page.Page, error) {
	h, err := s.open(ctx, v, "/movements")
	if err != nil {
		return page.Page{}, err
	}
	before, ok := accounts.ParsePlace(v.Param("before"))
	if !ok {
		return page.Page{}, errPlace
	}
	rows, err := s.cfg.Accounts.Newest(ctx, h.account, before, pageRows+1)
	if err != nil {
		return page.Page{}, err
	}
	view := movementsView{head: h, rows: rows[:min(len(rows), pageRows)]}
	if len(rows) > pageRows {
		view.older = h.path("/movements", "before", accounts.PlaceOf(&rows[pageRows-1]).String())
	}
	return page.Page{Title: "Movements of " + page.Name(h.account.Party), Body: movements(v, view)}, nil
}

// words writes a word of the tables, such as validator_liveness, as people do.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// counterpartiesView are those with whom an account exchanged something.
type counterpartiesView struct {
	head
	rows  []accounts.Counterparty
	older string
}

// counterparties lists with whom an account exchanged most.
func (s *Parties) counterparties(ctx context.Context, v *page.View) (page.Page, error) {
	h, err := s.open(ctx, v, "/counterparties")
	if err != nil {
		return page.Page{}, err
	}
	var after *accounts.Counterparty
	if text := v.Param("after"); text != "" {
		volume, party, ok := strings.Cut(text, " ")
		amount, err := decimal.Parse(volume)
		if !ok || err != nil || len(party) > maxID {
			return page.Page{}, errPlace
		}
		after = &accounts.Counterparty{Party: party, Received: amount}
	}
	rows, err := s.cfg.Accounts.Counterparties(ctx, h.account, after, pageRows+1)
	if err != nil {
		return page.Page{}, err
	}
	view := counterpartiesView{head: h, rows: rows[:min(len(rows), pageRows)]}
	if len(rows) > pageRows {
		last := rows[pageRows-1]
		view.older = h.path("/counterparties", "after", last.Volume().String()+" "+last.Party)
	}
	return page.Page{Title: "Counterparties of " + page.Name(h.account.Party), Body: counterparties(v, view)}, nil
}

// rewardsView is what an account minted.
type rewardsView struct {
	head
	totals []accounts.Minted
	// classes are the columns of the rounds.
	classes []string
	rounds  []rewardRound
	older   string
}

// rewardRound is what was minted in a round, by class; "" for nothing.
type rewardRound struct {
	number  int64
	amounts []string
	total   decimal.Decimal
}

// rewardRows bounds what is read for a page of rounds, of which each has some classes.
const rewardRows = 400

// rewards lists what an account minted, by round and class.
func (s *Parties) rewards(ctx context.Context, v *page.View) (page.Page, error) {
	h, err := s.open(ctx, v, "/rewards")
	if err != nil {
		return page.Page{}, err
	}
	before := int64(accounts.EndRound)
	if text := v.Param("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil {
			return page.Page{}, errPlace
		}
	}
	view := rewardsView{head: h}
	if view.totals, err = s.cfg.Accounts.RewardTotals(ctx, h.account); err != nil {
		return page.Page{}, err
	}
	rows, err := s.cfg.Accounts.Rewards(ctx, h.account, before, rewardRows)
	if err != nil {
		return page.Page{}, err
	}
	for _, t := range view.totals {
		view.classes = append(view.classes, t.Class)
	}
	more := false
	view.rounds, more = roundsOf(rows, view.classes)
	if more {
		view.older = h.path("/rewards", "before", fmt.Sprint(view.rounds[len(view.rounds)-1].number))
	}
	return page.Page{Title: "Rewards of " + page.Name(h.account.Party), Body: rewards(v, view)}, nil
}

// roundsOf are the first rounds of some rows that are whole, and whether there are more.
func roundsOf(rows []accounts.Minted, classes []string) (list []rewardRound, more bool) {
	if len(rows) == rewardRows { // the last one may lack classes
		last := rows[len(rows)-1].Round
		rows, more = slices.DeleteFunc(rows, func(m accounts.Minted) bool { return m.Round == last }), true
	}
	for _, m := range rows {
		if len(list) == 0 || list[len(list)-1].number != m.Round {
			if len(list) == pageRows {
				return list, true
			}
			list = append(list, rewardRound{number: m.Round, amounts: make([]string, len(classes))})
		}
		round := &list[len(list)-1]
		round.total = round.total.Plus(m.Amount)
		if i := slices.Index(classes, m.Class); i >= 0 {
			round.amounts[i] = m.Amount.String()
		}
	}
	return list, more && len(list) > 0
}

// signed is an amount with its sign, and its class of style.
func signed(amount decimal.Decimal) (text, class string) {
	if amount.Sign() < 0 {
		return page.Grouped(amount.String()), "minus"
	}
	return "+" + page.Grouped(amount.String()), "plus"
}

// why says in words what a movement was for.
func why(m *accounts.Movement) string {
	text := words(m.Cause)
	if m.Class != "" {
		text += ": " + words(m.Class)
	}
	if m.Purpose != "" && m.Purpose != cmp.Or(m.Class, m.Cause) {
		text += " (" + words(m.Purpose) + ")"
	}
	return text
}
