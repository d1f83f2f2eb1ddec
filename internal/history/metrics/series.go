package metrics

import (
	"cmp"
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Series is a metric as lines over the same buckets.
type Series struct {
	// Round says that buckets are mining rounds.
	Round bool
	// Starts are those of the buckets, as Request.From.
	Starts []int64
	// Provisional says which buckets may change.
	Provisional []bool
	Lines       []Line
	// Through is the position up to which history counts.
	Through schemas.Position
}

// Line is a group, or the whole metric, in each bucket.
type Line struct {
	// Group is the value of the column that the request is grouped by; "" without one.
	Group string
	// Others says that the line is the sum of all groups that have none of their own.
	Others bool
	// Before says that the line is the whole metric in as many buckets before the first one.
	Before bool
	// Values are as Row.Value.
	Values []any
}

// SeriesRequest is a Request of at most one group, with what is wanted beside it.
type SeriesRequest struct {
	Request
	// Most is how many of the largest groups have lines of their own.
	Most int
	// Compare asks for the same number of buckets before the first one, too, of the whole metric.
	Compare bool
}

// Series reads a metric as lines.
func (r *Reader) Series(ctx context.Context, q SeriesRequest) (Series, error) {
	q.most = q.Most
	answer, err := r.Read(ctx, q.Request)
	if err != nil {
		return Series{}, err
	}
	s := Series{Round: q.Grain == ByRound, Through: answer.Through}
	at := make(map[int64]int)
	for start := answer.First; start < answer.End && len(s.Starts) < MaxRows; start = step(q.Grain, start, 1) {
		at[start] = len(s.Starts)
		s.Starts, s.Provisional = append(s.Starts, start), append(s.Provisional, start >= answer.open)
	}
	s.draw(q, answer, at)
	if q.Compare && len(s.Starts) > 0 {
		before, err := r.before(ctx, q, answer.First, at)
		if err != nil {
			return Series{}, err
		}
		s.Lines = append(s.Lines, before)
	}
	return s, nil
}

// draw makes a line of each group, the largest first.
func (s *Series) draw(q SeriesRequest, answer Answer, at map[int64]int) {
	lines := make(map[string][]any)
	totals := make(map[string]any)
	for _, row := range answer.Rows {
		group := ""
		if len(row.Groups) > 0 {
			group = row.Groups[0]
		}
		line := lines[group]
		if line == nil {
			line = s.blank(q)
			lines[group] = line
		}
		if i, ok := at[row.Start]; ok {
			line[i] = row.Value
			s.Provisional[i] = s.Provisional[i] || row.Provisional
		}
		if row.Value != nil {
			totals[group] = plus(totals[group], row.Value)
		}
	}
	for group, values := range lines {
		s.Lines = append(s.Lines, Line{Group: group, Values: values})
	}
	slices.SortFunc(s.Lines, func(a, b Line) int {
		return cmp.Or(compare(totals[b.Group], totals[a.Group]), cmp.Compare(a.Group, b.Group))
	})
	if i := slices.IndexFunc(s.Lines, func(l Line) bool { return len(q.GroupBy) > 0 && l.Group == others }); i >= 0 {
		rest := s.Lines[i]
		rest.Group, rest.Others = "", true
		s.Lines = append(slices.Delete(s.Lines, i, i+1), rest)
	}
}

// blank is a line of buckets without rows: of a group nothing happened in them.
func (s *Series) blank(q SeriesRequest) []any {
	line := make([]any, len(s.Starts))
	if len(q.GroupBy) > 0 {
		for i := range line {
			line[i] = zero(q.Metric)
		}
	}
	return line
}

// before is the whole metric in as many buckets before the first one. at has the places of the buckets.
func (r *Reader) before(ctx context.Context, q SeriesRequest, first int64, at map[int64]int) (Line, error) {
	count := int64(len(at))
	from := step(q.Grain, first, -count)
	whole := q.Request
	whole.From, whole.To, whole.GroupBy = &from, &first, nil
	line := Line{Before: true, Values: make([]any, count)}
	answer, err := r.Read(ctx, whole)
	if err != nil {
		return line, err
	}
	for _, row := range answer.Rows {
		if i, ok := at[step(q.Grain, row.Start, count)]; ok {
			line.Values[i] = row.Value
		}
	}
	return line, nil
}

// compare orders two sums of the same metric; nil is the least.
func compare(a, b any) int {
	switch a := a.(type) {
	case decimal.Decimal:
		b, ok := b.(decimal.Decimal)
		if !ok {
			return 1
		}
		return a.Cmp(b)
	case int64:
		b, _ := b.(int64)
		return cmp.Compare(a, b)
	}
	if b != nil {
		return -1
	}
	return 0
}
