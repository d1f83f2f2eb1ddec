// Package boards has the pages for questions: metrics as charts, the library of questions with answers, and how to open
// the data with other tools.
package boards

import (
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct {
	Metrics *metrics.Reader // required
	Answers *answers.Reader // required
	// Instance says where other tools find the data.
	Instance Instance
}

// Boards makes the pages.
type Boards struct {
	cfg     Config
	newest  *memo.Value[map[string]newest]
	answers *memo.Recent[string, answers.Answer]
}

// New returns the pages over some readers.
func New(cfg Config) *Boards {
	return &Boards{cfg, newestValues(cfg.Metrics), memo.NewRecent[string, answers.Answer](keptAnswers, answerFresh, time.Now)}
}

// Routes are the pages.
func (b *Boards) Routes(p *page.Pages) []query.Route {
	return []query.Route{
		heavy(p.Get("/analytics", "analytics", b.overview)),
		p.Get("/analytics/boards/{board}", "board", b.board),
		p.Stream("/analytics/series/{metric}", "series", query.Page, b.series),
		heavy(p.Get("/analytics/{metric}", "metric", b.metric)),
		p.Get("/questions", "questions", b.library),
		p.Get("/open-data", "open_data", b.openData),
		heavy(p.Get("/questions/{name}", "question", b.question)),
		p.Stream("/questions/{name}/answer.csv", "answer", query.Page, b.file),
	}
}

// heavy is the route of a page that reserves memory.
func heavy(r query.Route) query.Route {
	r.Class = query.Page
	return r
}

func sprint(n int) string { return fmt.Sprint(n) }

// daysQuery is the query string of a span of a board.
func daysQuery(days string) string {
	if days == "" {
		return ""
	}
	return "?days=" + days
}
