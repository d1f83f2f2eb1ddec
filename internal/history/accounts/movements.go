package accounts

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var (
	//go:embed sql/newest.sql
	newestQuery string
	//go:embed sql/statement.sql
	statementQuery string
)

// Movement is one that changed what a party holds; see store.Movement.
type Movement = store.Movement

// Place is where a movement stands among those of an account.
type Place struct {
	schemas.Position
	Entry int32
}

// PlaceOf is where a movement stands.
func PlaceOf(m *Movement) Place { return Place{m.Position, m.Entry} }

// String is the place as a parameter of an address.
func (p Place) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", p.MigrationID, int64(p.RecordTime), p.Entry, p.UpdateID)
}

// ParsePlace reads what String wrote; "" is End.
func ParsePlace(text string) (p Place, ok bool) {
	if text == "" {
		return End, true
	}
	parts := strings.SplitN(text, ".", 4)
	if len(parts) < 4 {
		return p, false
	}
	migration, err := strconv.ParseInt(parts[0], 10, 64)
	at, err2 := strconv.ParseInt(parts[1], 10, 64)
	entry, err3 := strconv.ParseInt(parts[2], 10, 32)
	p = Place{schemas.Position{MigrationID: migration, RecordTime: schemas.Micros(at), UpdateID: parts[3]}, int32(entry)}
	return p, err == nil && err2 == nil && err3 == nil
}

// End is behind the last movement.
var End = Place{schemas.Position{MigrationID: math.MaxInt64, RecordTime: store.NeverArchived}, 0}

// Newest returns movements of an account before a place, the newest first.
func (r *Reader) Newest(ctx context.Context, a Account, before Place, limit int) ([]Movement, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return nil, err
	}
	place(params, "before_", before)
	params["limit"] = store.Int(int64(limit))
	list, err := store.SelectAll(ctx, r.db, newestQuery, params, store.NewMovements())
	if err != nil {
		return nil, fmt.Errorf("reading movements of party %.80q: %w", a.Party, err)
	}
	return list, nil
}

func place(params store.Params, prefix string, p Place) {
	params[prefix+"migration"], params[prefix+"time"] = store.Int(p.MigrationID), store.Time(store.Clamp(p.RecordTime))
	params[prefix+"id"], params[prefix+"entry"] = store.Text(p.UpdateID), store.Int(int64(p.Entry))
}

// Statement hands out the movements of an account in the order of history, with what is held after each. It reads
// a page at a time, and nothing between: it may take as long as its reader does. It is not safe for concurrent use.
type Statement struct {
	reader  *Reader
	account Account
	params  store.Params
	after   Place
	balance decimal.Decimal
	limit   int
	// What pages are read into, again and again.
	block *store.Movements
	rows  []Movement
	lines []Line
}

// Line is a movement of a statement.
type Line struct {
	Movement
	// Balance is what is held after it, locked or not.
	Balance decimal.Decimal
}

// Statement begins the statement of an account from an instant on, inclusive, in pages of at most limit lines. What
// becomes history later is not in it.
func (r *Reader) Statement(ctx context.Context, a Account, from schemas.Micros, limit int) (*Statement, error) {
	s := &Statement{reader: r, account: a, after: Place{Position: schemas.Start}, limit: limit, block: store.NewMovements()}
	var err error
	if s.params, err = r.of(ctx, a); err != nil {
		return nil, err
	}
	s.params["from"], s.params["limit"] = store.Time(store.Clamp(from)), store.Int(int64(limit))
	if from > store.BeforeHistory {
		if s.balance, err = r.held(ctx, a, from); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Next returns the next page, which is valid until the next call; none is left if it has fewer lines than the limit.
func (s *Statement) Next(ctx context.Context) ([]Line, error) {
	place(s.params, "after_", s.after)
	s.rows, s.lines = s.rows[:0], s.lines[:0]
	err := s.reader.db.Select(ctx, statementQuery, s.params, s.block, func() error {
		s.rows = s.block.AppendTo(s.rows)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the statement of party %.80q: %w", s.account.Party, err)
	}
	for _, m := range s.rows {
		s.balance = s.balance.Plus(m.Amount)
		s.lines = append(s.lines, Line{m, s.balance})
		s.after = PlaceOf(&m)
	}
	return s.lines, nil
}
