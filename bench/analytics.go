package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/bench/lab"
	library "github.com/ledgerlake/ledgerlake/docs/analytics"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/busiest_party.sql
var busiestParty string

// The targets of the tables for questions.
const (
	maxQuestion        = 100  // ms at the 95th percentile, out of 100,000 updates
	maxAnalyticsCPU    = 0.10 // of the processor time of an ingest without them
	maxAnalyticsDisk   = 0.12 // of the store without them
	maxBehind          = 5    // seconds behind the watermark, at tailRate
	analyticsTurns     = 2    // loads without and with
	questionSamples    = 20
	slowQuestionsShown = 5
)

// measureAnalytics measures what the tables for questions cost, how far behind they are, and how long the
// questions of the library take.
func measureAnalytics(ctx context.Context, l *lab.Lab, s lab.Section) error {
	dir, err := analyticsCost(ctx, l, s)
	if err != nil {
		return err
	}
	if err := askLibrary(ctx, l, s, dir); err != nil {
		return err
	}
	return followAnalytics(ctx, l, s)
}

// analyticsCost loads a history in turns without and with the tables, and returns the folder of the last store.
func analyticsCost(ctx context.Context, l *lab.Lab, s lab.Section) (dir string, err error) {
	n, err := l.StartNetwork(ctx, lab.NetworkTask{Dir: l.Folder("analytics-network"), Updates: l.AnalyticsUpdates})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	var processor, disk [2]float64 // without and with
	for turn := range analyticsTurns {
		for with := range processor {
			dir = l.Folder(fmt.Sprintf("analytics-%d-%d", turn, with))
			got, err := l.Load(ctx, []string{"without tables for questions", "with tables for questions"}[with], lab.RoleIngest, n,
				lab.LoadTask{Dir: dir, Lifetimes: true, Analytics: with == 1})
			if err != nil {
				return "", err
			}
			processor[with] += got.Settled.Total() / analyticsTurns
			for _, t := range got.Tables {
				disk[with] += float64(t.Bytes) / analyticsTurns
			}
		}
	}
	s.Add("updates", float64(l.AnalyticsUpdates), "")
	s.Add("processor time of ingest without tables for questions, with merges", processor[0], "s")
	s.Add("with them", processor[1], "s")
	s.AtMost(maxAnalyticsCPU, "added processor time / without", processor[1]/processor[0]-1, "")
	s.Add("store without tables for questions", disk[0]/lab.Megabyte, "MB")
	s.AtMost(maxAnalyticsDisk, "added disk / without", disk[1]/disk[0]-1, "")
	return dir, nil
}

// asked is a question with how long its answers took, in ms.
type asked struct {
	name               string
	cold, median, warm float64
}

// askLibrary asks each question of the library, of all history and of the party that has most, by one client.
func askLibrary(ctx context.Context, l *lab.Lab, s lab.Section, dir string) (err error) {
	l.Say("asking the questions of the library")
	store, err := lab.OpenEngine(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	params := map[string]string{}
	var party, other string
	if err := store.Conn.QueryRow(ctx, busiestParty).Scan(&party, &other); err != nil {
		return fmt.Errorf("looking for the busiest party: %w", err)
	}
	params["party"], params["other"] = party, other
	questions, err := library.Questions()
	if err != nil {
		return err
	}
	var all []asked
	for _, q := range questions {
		took, err := ask(ctx, store, &q, params)
		if err != nil {
			return fmt.Errorf("asking question %s: %w", q.Name, err)
		}
		all = append(all, took)
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(b.warm, a.warm) })
	slow := 0
	for slow < len(all) && all[slow].warm > maxQuestion {
		slow++
	}
	s.Add(fmt.Sprintf("questions, of %d, that take more than %d ms", len(all), maxQuestion), float64(slow), "")
	s.AtMost(maxQuestion, "slowest question, 95th percentile", all[0].warm, "ms")
	for _, q := range all[:min(slowQuestionsShown, len(all))] {
		s.Add("question "+q.name+", 95th percentile", q.warm, "ms")
		s.Add("question "+q.name+", median", q.median, "ms")
		s.Add("question "+q.name+", cold", q.cold, "ms")
	}
	s.Add("median of the questions, 95th percentile of each", all[len(all)/2].warm, "ms")
	cold := slices.MaxFunc(all, func(a, b asked) int { return cmp.Compare(a.cold, b.cold) })
	s.Add("slowest cold question, "+cold.name, cold.cold, "ms")
	return nil
}

// ask asks a question once without the engine's caches and some times with them. Parameters that it has no
// default for, and that are not given, are those of its example.
func ask(ctx context.Context, store *lab.EngineStore, q *library.Question, params map[string]string) (took asked, err error) {
	given := make(map[string]string)
	for _, p := range q.Parameters {
		if v, ok := params[p.Name]; ok {
			given[p.Name] = v
		} else if p.Default == "" {
			given[p.Name] = q.Example[p.Name]
		}
	}
	values, err := q.Values(given)
	if err != nil {
		return took, err
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(values))
	if err := store.Execute(ctx, "SYSTEM DROP MARK CACHE", "SYSTEM DROP UNCOMPRESSED CACHE"); err != nil {
		return took, err
	}
	var cold, warm lab.Timings
	for i := range questionSamples + 1 {
		begin := time.Now()
		if err := answer(ctx, store, q.ClickHouse); err != nil {
			return took, err
		}
		into := &warm
		if i == 0 {
			into = &cold
		}
		into.Each = append(into.Each, time.Since(begin))
	}
	return asked{q.Name, cold.Percentile(50), warm.Percentile(50), warm.Percentile(95)}, nil
}

// answer reads the whole answer to a query.
func answer(ctx context.Context, store *lab.EngineStore, query string) (err error) {
	rows, err := store.Conn.Query(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
	}
	return rows.Err()
}

// followAnalytics lets a network go on at a steady rate, and looks how far the tables are behind history.
func followAnalytics(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	ledger, err := l.StartLive(ctx, devnet.Config{Updates: tailHistory, Dir: l.Folder("analytics-tail")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	p, err := l.Start(ctx, "scan interface", "up", "--data", l.Folder("analytics-tail-lake"), "--scan-url", ledger.URL, "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	w := behind{product: p}
	if err := lab.Until(ctx, 50*time.Millisecond, time.Minute, "catching up", func() (bool, error) {
		waits, err := w.look(ctx)
		return waits == 0 && w.derived > 0, err
	}); err != nil {
		return err
	}
	l.Say("following %d updates a second for %d s", tailRate, tailUpdates/tailRate)
	done := make(chan error, 1)
	go func() { done <- ledger.AdvanceSteadily(ctx, tailUpdates, tailRate, 2, func() {}) }()
	var lags lab.Timings
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			s.Add("behind the watermark at 200 updates a second, median", lags.Percentile(50)/1000, "s")
			s.AtMost(maxBehind, "behind the watermark at 200 updates a second, worst", lags.Percentile(100)/1000, "s")
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		lag, err := w.look(ctx)
		if err != nil {
			return err
		}
		lags.Each = append(lags.Each, lag)
	}
}

// behind looks how far movements and labels are behind history.
type behind struct {
	product *lab.Product
	history []mark // watermarks of history and when each was seen first
	derived int    // streams that are derived for questions
}

type mark struct {
	recordTime, seen time.Time
}

// look returns how long the history that has waited longest has waited for the slowest of the tables.
func (b *behind) look(ctx context.Context) (longest time.Duration, err error) {
	all, err := b.product.Streams(ctx)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	b.derived = 0
	for _, stream := range all {
		if last := len(b.history) - 1; stream.Stream == schemas.ScanStream && (last < 0 || b.history[last].recordTime.Before(stream.WatermarkTime)) {
			b.history = append(b.history, mark{stream.WatermarkTime, now})
		}
	}
	for _, stream := range all {
		if stream.Stream != journal.MovementsStream(schemas.ScanStream) { // rollups wait until an hour is over
			continue
		}
		b.derived++
		for _, m := range b.history {
			if stream.WatermarkTime.Before(m.recordTime) {
				longest = max(longest, now.Sub(m.seen))
				break
			}
		}
	}
	return longest, nil
}
