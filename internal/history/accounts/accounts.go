// Package accounts reads what parties hold and why, out of the movements of one stream: balances, how they came
// about, with whom, and for which rewards. Everything is as of an instant, and never above the position up to which
// movements are derived.
package accounts

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

var (
	//go:embed sql/balances.sql
	balancesQuery string
	//go:embed sql/held.sql
	heldQuery string
	//go:embed sql/party_span.sql
	partySpanQuery string
)

// Reader reads the accounts of a stream. It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
}

// NewReader returns a reader of a stream, usually schemas.ScanStream.
func NewReader(db *store.DB, stream string) *Reader { return &Reader{db, stream} }

// Balance is what a party holds of an instrument.
type Balance struct {
	// Instrument is ADMIN PARTY/ID.
	Instrument string          `column:"instrument,low"`
	Unlocked   decimal.Decimal `column:"unlocked"`
	Locked     decimal.Decimal `column:"locked"`
	// First and Last are when it changed, store.BeforeHistory for what history began with.
	First schemas.Micros `column:"first"`
	Last  schemas.Micros `column:"last"`
	// Movements is how often it changed.
	Movements int64 `column:"movements"`
}

// Total is what is held, locked or not.
func (b Balance) Total() decimal.Decimal { return b.Unlocked.Plus(b.Locked) }

// IsCoin reports whether an instrument is the network's coin.
func IsCoin(instrument string) bool {
	return strings.HasSuffix(instrument, "/"+template.CoinInstrument)
}

// Account is what a party holds of an instrument at an instant, of all that it has in history.
type Account struct {
	Party, Instrument string
	// At is inclusive.
	At schemas.Micros
}

// through are the parameters of queries that read movements up to an instant.
func (r *Reader) through(ctx context.Context, at schemas.Micros) (store.Params, error) {
	mark, err := journal.Watermark(ctx, r.db, journal.MovementsStream(r.stream))
	if err != nil {
		return nil, err
	}
	return r.upTo(mark, at), nil
}

func (r *Reader) upTo(mark schemas.Position, at schemas.Micros) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "through_migration": store.Int(mark.MigrationID), "through_time": store.Time(store.Clamp(mark.RecordTime)),
		"through_id": store.Text(mark.UpdateID), "at": store.Time(store.Clamp(at)),
	}
}

// of are the parameters of queries about an account.
func (r *Reader) of(ctx context.Context, a Account) (store.Params, error) {
	params, err := r.through(ctx, a.At)
	if err == nil {
		params["party"], params["instrument"] = store.Text(a.Party), store.Text(a.Instrument)
	}
	return params, err
}

// Balances returns what a party holds at an instant, the most first, up to 100 instruments. It has instruments of
// which nothing is left.
func (r *Reader) Balances(ctx context.Context, party string, at schemas.Micros) ([]Balance, error) {
	params, err := r.through(ctx, at)
	if err != nil {
		return nil, err
	}
	params["party"] = store.Text(party)
	list, err := store.SelectAll(ctx, r.db, balancesQuery, params, store.NewRecords[Balance]())
	if err != nil {
		return nil, fmt.Errorf("reading the balances of party %.80q: %w", party, err)
	}
	return list, nil
}

// Coin is the balance of the network's coin among some; false if there is none.
func Coin(list []Balance) (Balance, bool) {
	for _, b := range list {
		if IsCoin(b.Instrument) {
			return b, true
		}
	}
	return Balance{}, false
}

// held is what a party holds of an instrument before an instant.
func (r *Reader) held(ctx context.Context, a Account, before schemas.Micros) (decimal.Decimal, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return decimal.Decimal{}, err
	}
	params["from"] = store.Time(store.Clamp(before))
	sum, _, err := store.SelectOne(ctx, r.db, heldQuery, params, store.NewRecords[struct {
		Held decimal.Decimal `column:"held"`
	}]())
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("reading what party %.80q held: %w", a.Party, err)
	}
	return sum.Held, nil
}

// Span returns the first and the last record time up to an instant at which a party signs, observes or acts in an
// event; ok is false if it never did.
func (r *Reader) Span(ctx context.Context, party string, at schemas.Micros) (first, last schemas.Micros, ok bool, err error) {
	mark, err := journal.Watermark(ctx, r.db, r.stream)
	if err != nil {
		return 0, 0, false, err
	}
	params := r.upTo(mark, at)
	delete(params, "stream")
	delete(params, "through_id")
	params["key"] = fmt.Sprint(store.PlaceKey(r.stream, store.ByParty, party))
	ends, err := store.SelectAll(ctx, r.db, partySpanQuery, params, store.NewRecords[struct {
		Time schemas.Micros `column:"record_time"`
	}]())
	if err != nil {
		return 0, 0, false, fmt.Errorf("reading when party %.80q was seen: %w", party, err)
	}
	if len(ends) == 0 {
		return 0, 0, false, nil
	}
	return ends[0].Time, ends[len(ends)-1].Time, true, nil
}
