package network

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
)

// spans are the days that ranks are of.
var spans = []string{"1", "7", "30"}

// ranks is how many parties a rank has.
const ranks = 20

// rewardsView is what is minted as rewards, and by whom.
type rewardsView struct {
	chart   string
	classes []string
	days    []rewardDay
	span    string
	ranks   []ranking
}

// rewardDay is what was minted on a day, by class; "" for nothing.
type rewardDay struct {
	start       schemas.Micros
	amounts     []string
	provisional bool
}

// ranking is who earned most of some classes.
type ranking struct {
	title string
	rows  []accounts.Minter
}

// rankings are the ranks, by the classes that count.
var rankings = []struct {
	title   string
	classes []string
}{
	{"App providers", []string{coins.App}},
	{"Validators", []string{coins.ValidatorUsage, coins.ValidatorLiveness}},
	{"Operators", []string{coins.Operator}},
}

// rewards shows rewards by class and day, and who earned most.
func (s *Network) rewards(ctx context.Context, v *page.View) (page.Page, error) {
	view := rewardsView{span: v.Param("days")}
	if view.span == "" {
		view.span = "7"
	}
	if !slices.Contains(spans, view.span) {
		return page.Page{}, query.Errorf(query.Invalid, "There are ranks of %s days.", strings.Join(spans, ", "))
	}
	made := func() page.Page { return page.Page{Title: "Rewards", Section: page.Rewards, Body: rewards(v, view)} }
	if v.Status.Empty() || v.Instant() <= schemas.MinMicros {
		return made(), nil
	}
	if err := s.addDays(ctx, v, &view); err != nil {
		return page.Page{}, err
	}
	length := map[string]schemas.Micros{"1": day, "7": 7 * day, "30": 30 * day}[view.span]
	for _, r := range rankings {
		rows, err := s.cfg.Accounts.TopMinters(ctx, r.classes, v.Instant()-length, v.Instant(), ranks)
		if err != nil {
			return page.Page{}, err
		}
		view.ranks = append(view.ranks, ranking{r.title, rows})
	}
	return made(), nil
}

// addDays reads what was minted on the last 31 days, by class.
func (s *Network) addDays(ctx context.Context, v *page.View, view *rewardsView) error {
	metric, ok := metrics.Named("minted")
	if !ok {
		return fmt.Errorf("there is no metric minted")
	}
	end := v.Instant()
	if v.At == nil || end > v.Status.Through {
		end = v.Status.Through
	}
	from, to := int64(end.DayStart()-30*day), int64(end.DayStart()+day)
	answer, err := s.cfg.Metrics.Read(ctx, metrics.Request{Metric: metric, Grain: metrics.ByDay, GroupBy: []string{"class"}, From: &from, To: &to})
	if err != nil {
		return err
	}
	for _, row := range answer.Rows {
		if !slices.Contains(view.classes, row.Groups[0]) {
			view.classes = append(view.classes, row.Groups[0])
		}
	}
	slices.Sort(view.classes)
	for _, row := range answer.Rows {
		n := len(view.days)
		if n == 0 || int64(view.days[n-1].start) != row.Start {
			view.days, n = append(view.days, rewardDay{start: schemas.Micros(row.Start), amounts: make([]string, len(view.classes))}), n+1
		}
		last := &view.days[n-1]
		last.provisional = last.provisional || row.Provisional
		if row.Value != nil {
			last.amounts[slices.Index(view.classes, row.Groups[0])] = fmt.Sprint(row.Value)
		}
	}
	slices.Reverse(view.days)
	view.chart = withParams("/analytics/series/minted", "grain", metrics.ByDay, "group_by", "class", "from", dateOf(from), "to", dateOf(to))
	return nil
}

// dateOf is the day of an instant as parameters have it.
func dateOf(at int64) string { return schemas.Micros(at).Time().Format("2006-01-02") }

// words writes a word of the tables, such as validator_liveness, as people do.
func words(name string) string {
	if name == "" {
		return "none"
	}
	return strings.ReplaceAll(name, "_", " ")
}
