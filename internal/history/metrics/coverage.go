package metrics

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/coverage.sql
var coverageQuery string

// coverage is what is known of the transactions of a bucket.
type coverage struct {
	Bucket       int64 `column:"bucket"`
	Transactions int64 `column:"transactions"`
	// Decisions are on them and on others, Decided on them alone.
	Decisions int64 `column:"decisions"`
	Decided   int64 `column:"decided"`
}

// cover takes back what rows say of submitters where no decision names them, and marks what may change because some are
// missing: a party without a decision is not one that submitted nothing.
func (r *Reader) cover(ctx context.Context, q Request, s span, parts []part, rows []Row) error {
	window := int64(max(q.Metric.rolling, 1))
	params := store.Params{"from": store.Int(step(q.Grain, s.from, 1-window)), "to": store.Int(s.to)}
	maps.Copy(params, r.db.Readers())
	query := strings.NewReplacer("BUCKET", bucketOf[q.Grain], "SOURCE", source(rollups.NetworkHours, parts, params)).Replace(coverageQuery)
	buckets := make(map[int64]coverage)
	block := store.NewRecords[coverage]()
	err := r.db.SelectWithin(ctx, query, params, maxTime, maxMemory, block, func() error {
		for _, c := range block.AppendTo(nil) {
			buckets[c.Bucket] = c
		}
		return nil
	})
	switch {
	case store.IsOverBudget(err):
		return fmt.Errorf("%w: %w", ErrTooExpensive, err)
	case err != nil:
		return fmt.Errorf("reading the decisions that metric %s is of: %w", q.Metric.Name, err)
	}
	for i := range rows {
		var sum coverage
		for back := range window {
			c := buckets[step(q.Grain, rows[i].Start, -back)]
			sum.Transactions, sum.Decisions, sum.Decided = sum.Transactions+c.Transactions, sum.Decisions+c.Decisions, sum.Decided+c.Decided
		}
		if sum.Transactions > 0 && sum.Decisions == 0 {
			rows[i].Value = nil
		}
		rows[i].Provisional = rows[i].Provisional || sum.Transactions > sum.Decided
	}
	return nil
}
