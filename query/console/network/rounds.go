package network

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// roundsView is the rounds that are active, and those that were opened.
type roundsView struct {
	active []network.Round
	opened []network.Round
	older  string
	first  bool // whether the page begins with the newest
}

// rounds lists the active rounds, and the others from the newest on.
func (s *Network) rounds(ctx context.Context, v *page.View) (page.Page, error) {
	view := roundsView{first: v.Param("before") == ""}
	made := func() page.Page { return page.Page{Title: "Rounds", Section: page.Rounds, Body: rounds(v, view)} }
	at, ok, err := s.instant(ctx, v)
	if err != nil || !ok {
		return made(), err
	}
	from := schemas.MaxMicros
	if text := v.Param("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return page.Page{}, errPlace
		}
		from = schemas.Micros(n)
	}
	if view.active, err = s.cfg.Network.Rounds(ctx, at); err != nil {
		return page.Page{}, err
	}
	slices.Reverse(view.active)
	if view.opened, err = s.cfg.Network.Opened(ctx, at, from, pageRows+1); err != nil {
		return page.Page{}, err
	}
	if len(view.opened) > pageRows {
		view.opened = view.opened[:pageRows]
		view.older = withParams("/rounds", "before", fmt.Sprint(int64(view.opened[pageRows-1].Contract.Event.CreatedAt)))
	}
	return made(), nil
}

// drawnRounds are how many rounds the chart of prices has.
const drawnRounds = 300

// chartAnswer is what charts draw: see console.js.
type chartAnswer struct {
	Times  []int64     `json:"times"`
	Round  bool        `json:"round"`
	Series []chartLine `json:"series"`
}

type chartLine struct {
	Label  string   `json:"label"`
	Values []string `json:"values"`
}

// prices serves the price of the coin by round to the chart.
func (s *Network) prices(ctx context.Context, v *page.View) error {
	answer := chartAnswer{Times: []int64{}, Round: true, Series: []chartLine{{"Dollars for a coin", []string{}}}}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return err
	}
	if ok {
		list, err := s.cfg.Network.Opened(ctx, at, schemas.MaxMicros, drawnRounds)
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b network.Round) int { return int(a.Number - b.Number) })
		for _, r := range list {
			answer.Times, answer.Series[0].Values = append(answer.Times, r.Number), append(answer.Series[0].Values, r.Price)
		}
	}
	v.SetHeader("Cache-Control", "no-store")
	return v.JSON(answer)
}

// roundView is a round with its life and what happened in it.
type roundView struct {
	number int64
	life   []network.Round
	at     schemas.Micros
	// previous and next are its neighbours, "" where there is none.
	previous, next string
	sums           []roundSum
}

// roundSum is a metric of the round, by class.
type roundSum struct {
	title string
	rows  []amountRow
}

type amountRow struct{ label, amount string }

// round is one round.
func (s *Network) round(ctx context.Context, v *page.View) (page.Page, error) {
	text, err := v.Path("round")
	if err != nil {
		return page.Page{}, err
	}
	number, err := strconv.ParseInt(text, 10, 64)
	missing := page.Missing("History does not have this round at this time. Rounds are numbers from 0 on.")
	if err != nil || number < 0 {
		return page.Page{}, missing
	}
	at, ok, err := s.instant(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if !ok {
		return page.Page{}, missing
	}
	view := roundView{number: number, at: at.At, next: fmt.Sprintf("/round/%d", number+1)}
	if number > 0 {
		view.previous = fmt.Sprintf("/round/%d", number-1)
	}
	if view.life, err = s.cfg.Network.Life(ctx, at, number); err != nil {
		return page.Page{}, err
	}
	if len(view.life) == 0 {
		return page.Page{}, missing
	}
	if v.At == nil { // the sums of rounds are those of all of history
		if view.sums, err = s.sums(ctx, number); err != nil {
			return page.Page{}, err
		}
	}
	return page.Page{Title: fmt.Sprintf("Round %d", number), Section: page.Rounds, Body: round(v, view)}, nil
}

// roundMetrics are what happened in a round: the metric, the column that it is told apart by, and what it is called.
var roundMetrics = [][3]string{{"minted", "class", "Minted"}, {"burned", "class", "Burnt"}, {"transfer_volume", "purpose", "Transferred"}}

// sums reads what happened while a round was the newest open one.
func (s *Network) sums(ctx context.Context, number int64) (list []roundSum, err error) {
	for _, m := range roundMetrics {
		metric, ok := metrics.Named(m[0])
		if !ok {
			return nil, fmt.Errorf("there is no metric %s", m[0])
		}
		end := number + 1
		answer, err := s.cfg.Metrics.Read(ctx, metrics.Request{Metric: metric, Grain: metrics.ByRound, GroupBy: []string{m[1]}, From: &number, To: &end})
		if err != nil {
			return nil, err
		}
		sum := roundSum{title: m[2]}
		for _, row := range answer.Rows {
			if row.Start == number && row.Value != nil {
				sum.rows = append(sum.rows, amountRow{words(row.Groups[0]), fmt.Sprint(row.Value)})
			}
		}
		list = append(list, sum)
	}
	return list, nil
}

// end is when a contract of a round ended, zero if it has not by the instant of the page.
func (view *roundView) end(r *network.Round) schemas.Micros {
	if r.Contract.Live(view.at) {
		return 0
	}
	return r.Contract.ArchivedAt
}

// day is the length of a day.
const day = 24 * rollups.Hour
