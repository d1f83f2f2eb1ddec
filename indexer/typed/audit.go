package typed

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

// maxNamed bounds the rows of a table that an audit names.
const maxNamed = 3

// Difference is a row that is not as history has it, or how many more there are.
type Difference struct{ Table, Where, Expected, Found string }

// dayKey is a UTC day of a migration in a table, as a number of days since 1970.
type dayKey struct {
	table             string
	migration, number int64
}

const dayLength = 24 * 3600 * 1_000_000

// audit compares typed tables with history: all rows are derived again, without a look at how they were
// derived before. Memory does not grow with history, but with its days and the rows of a day that differs.
type audit struct {
	*Typed
	sums map[dayKey]*[2]uint64 // of hashes of rows, as expected and as stored
	// wanted are days of which the rows are looked at, in a second pass.
	wanted map[dayKey]*[2][]auditedRow
	looked int64
	buf    []byte
}

// auditedRow is a row of a day that differs.
type auditedRow struct {
	where string
	hash  uint64
}

// Audit calls found for each row of the stream in the typed tables that is not as history has it, for the
// first day of each table that differs, and returns how many rows it looked at. Tables whose types have
// changed since they were last planned are left out.
func (t *Typed) Audit(ctx context.Context, found func(Difference)) (looked int64, err error) {
	a := &audit{Typed: t, sums: make(map[dayKey]*[2]uint64)}
	sets, err := a.planned(ctx)
	if err != nil {
		return 0, err
	}
	if err := a.compare(ctx, sets); err != nil {
		return 0, err
	}
	looked = a.looked
	differing := make(map[string][]dayKey)
	for day, sums := range a.sums {
		if sums[0] != sums[1] {
			differing[day.table] = append(differing[day.table], day)
		}
	}
	if len(differing) == 0 {
		return looked, nil
	}
	a.wanted = make(map[dayKey]*[2][]auditedRow)
	for _, days := range differing {
		slices.SortFunc(days, func(x, y dayKey) int {
			return cmp.Or(cmp.Compare(x.migration, y.migration), cmp.Compare(x.number, y.number))
		})
		a.wanted[days[0]] = new([2][]auditedRow)
	}
	if err := a.compare(ctx, sets); err != nil {
		return 0, err
	}
	for _, table := range slices.Sorted(maps.Keys(differing)) {
		days := differing[table]
		nameRows(table, a.wanted[days[0]], found)
		if more := len(days) - 1; more > 0 {
			found(Difference{table, "later", "as history has it", fmt.Sprintf("%d more days with rows that differ", more)})
		}
	}
	return looked, nil
}

// nameRows calls found for the first rows that are in one list alone.
func nameRows(table string, rows *[2][]auditedRow, found func(Difference)) {
	only := func(list, other []auditedRow) (rest []auditedRow) {
		left := make(map[auditedRow]int)
		for _, r := range other {
			left[r]++
		}
		for _, r := range list {
			if left[r]--; left[r] < 0 {
				rest = append(rest, r)
			}
		}
		return rest
	}
	lacking, extra := only(rows[0], rows[1]), only(rows[1], rows[0])
	named := 0
	tell := func(d Difference) {
		if named++; named <= maxNamed {
			found(d)
		}
	}
	for _, r := range lacking {
		if n := slices.IndexFunc(extra, func(x auditedRow) bool { return x.where == r.where }); n >= 0 {
			extra = slices.Delete(extra, n, n+1)
			tell(Difference{table, r.where, "the values that history has", "others"})
			continue
		}
		tell(Difference{table, r.where, "a row", "no such row"})
	}
	for _, r := range extra {
		tell(Difference{table, r.where, "no such row", "a row"})
	}
	if named > maxNamed {
		found(Difference{table, "the same day", "as history has it", fmt.Sprintf("%d more rows that differ", named-maxNamed)})
	}
}

// planned are the sets of tables that are as they were planned last, by fill.
func (a *audit) planned(ctx context.Context) (map[int64]*set, error) {
	if err := a.loadJoined(ctx); err != nil {
		return nil, err
	}
	list, err := a.tables.List(ctx)
	if err != nil {
		return nil, err
	}
	by := make(map[int64][]*projection)
	for _, table := range list {
		p, err := newProjection(table, a.tables.catalog)
		if err != nil {
			return nil, err
		}
		fill := int64(liveFill)
		if !a.joined[table.fill] {
			fill = table.fill
		}
		if p.plan.Shape == table.shape && !p.unknown {
			by[fill] = append(by[fill], p)
		}
	}
	sets := make(map[int64]*set)
	for fill, tables := range by {
		sets[fill] = newSet(tables)
	}
	return sets, nil
}

// compare derives all rows of the sets again, each as far as it was derived, and reads those that are stored.
func (a *audit) compare(ctx context.Context, sets map[int64]*set) error {
	lines, err := journals.Read(ctx, a.db, a.stream)
	if err != nil {
		return err
	}
	a.looked = 0
	for fill, s := range sets {
		own := journals.TypedStream(a.stream)
		if fill != liveFill {
			own = journals.TypedFill(a.stream, fill)
		}
		mark, err := journals.Watermark(ctx, a.db, own)
		if err != nil {
			return err
		}
		if mark == schemas.Start || mark.Offset > 0 && mark.RecordTime == schemas.MinMicros {
			continue // its contracts that a node began with are not complete
		}
		if err := a.deriveAgain(ctx, s, lines, mark); err != nil {
			return err
		}
		for _, p := range s.all {
			if err := a.readStored(ctx, p, mark); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *audit) deriveAgain(ctx context.Context, s *set, lines []store.BatchRow, mark schemas.Position) error {
	return journal.EachRange(lines, mark, func(after, through schemas.Position) error {
		for _, p := range s.all {
			store.Reset(p.block)
		}
		if err := a.derive(ctx, s, after, through); err != nil {
			return err
		}
		for _, p := range s.all {
			a.take(p, 0)
		}
		return nil
	})
}

// take adds the rows of the current block, which are as expected (0) or as stored (1).
func (a *audit) take(p *projection, side int) {
	for i := range p.block.Rows() {
		cells := p.block.Row(i)
		a.buf = appendCells(a.buf[:0], cells)
		hash := xxh3.Hash(a.buf)
		// The position columns come first.
		migration, at := cells[1].(int64), int64(cells[2].(schemas.Micros))
		day := dayKey{p.Name, migration, (at - ((at%dayLength)+dayLength)%dayLength) / dayLength}
		if a.wanted == nil {
			if a.sums[day] == nil {
				a.sums[day] = new([2]uint64)
			}
			a.sums[day][side] += hash
		} else if rows := a.wanted[day]; rows != nil {
			rows[side] = append(rows[side], auditedRow{fmt.Sprintf("update %s, event %d", cells[3], cells[4]), hash})
		}
		if side == 1 {
			a.looked++
		}
	}
}

// readStored reads the rows of a table up to a position.
func (a *audit) readStored(ctx context.Context, p *projection, mark schemas.Position) error {
	names := []string{}
	for _, c := range p.blockColumns(p.plan) {
		names = append(names, quoted(c.Name))
	}
	bound := "(_migration_id, _record_time, _update_id) <= ({migration:Int64}, fromUnixTimestamp64Micro({time:Int64}, 'UTC'), {id:String})"
	params := store.Params{
		"stream": store.Text(a.stream), "migration": store.Int(mark.MigrationID), "time": store.Time(store.Clamp(mark.RecordTime)), "id": store.Text(mark.UpdateID),
	}
	if mark.Offset > 0 {
		bound, params = "_offset <= {offset:Int64}", store.Params{"stream": store.Text(a.stream), "offset": store.Int(mark.Offset)}
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + quoted(p.Name) + " WHERE _stream = {stream:String} AND " + bound
	err := a.db.Select(ctx, query, params, p.block, func() error {
		a.take(p, 1)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading table %s: %w", p.Name, err)
	}
	return nil
}

// appendCells appends cells so that no two rows that differ give the same.
func appendCells(dst []byte, cells []any) []byte {
	for _, cell := range cells {
		switch v := cell.(type) {
		case nil:
			dst = append(dst, 'n')
		case bool:
			dst = append(dst, 'b', map[bool]byte{true: 1}[v])
		case int64:
			dst = binary.LittleEndian.AppendUint64(append(dst, 'i'), uint64(v))
		case schemas.Micros:
			dst = binary.LittleEndian.AppendUint64(append(dst, 't'), uint64(v))
		case typed.Days:
			dst = binary.LittleEndian.AppendUint64(append(dst, 'd'), uint64(v))
		case decimal.Decimal:
			high, low, _ := v.Int128() // the column has no others
			dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(append(dst, 'u'), high), low)
		case typed.Number:
			dst = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(append(dst, 'u'), v.High), v.Low)
		case string:
			dst = append(binary.LittleEndian.AppendUint64(append(dst, 's'), uint64(len(v))), v...)
		case []any:
			dst = appendCells(binary.LittleEndian.AppendUint64(append(dst, 'l'), uint64(len(v))), v)
		case map[string]any:
			dst = binary.LittleEndian.AppendUint64(append(dst, 'm'), uint64(len(v)))
			for _, key := range slices.Sorted(maps.Keys(v)) {
				dst = appendCells(dst, []any{key, v[key]})
			}
		default:
			panic(fmt.Sprintf("a cell of type %T", cell)) // a test audits all types
		}
	}
	return dst
}
