package state

import (
	"context"
	"errors"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// factTTL is how long a fact, or that there is none, is remembered. Facts change by the
// minute at most, as upstreams are polled.
const factTTL = time.Second

// cachedFacts remembers facts of operations without parameters that come from requests, nil for
// those that the store does not have.
func cachedFacts(source Source, now func() time.Time) *memo.Values[facts.Key, *facts.Fact] {
	return &memo.Values[facts.Key, *facts.Fact]{New: func(key facts.Key) *memo.Value[*facts.Fact] {
		return &memo.Value[*facts.Fact]{TTL: factTTL, Now: now, Load: func(ctx context.Context) (*facts.Fact, error) {
			fact, err := source.Fact(ctx, key)
			if errors.Is(err, schemas.ErrNotFound) {
				return nil, nil
			}
			return &fact, err
		}}
	}}
}

// Upstream asks an upstream for what nobody has asked for before. It is bounded in number and
// time, and remembers answers.
type Upstream interface {
	// Ask returns the fact of a key, schemas.ErrNotFound if the upstream has none, and an
	// error that wraps schemas.ErrUnavailable if it cannot be asked at present.
	Ask(ctx context.Context, key facts.Key) (facts.Fact, error)
}

// factReader reads what history does not tell.
type factReader struct {
	source   Source
	upstream Upstream // nil without one
	cached   *memo.Values[facts.Key, *facts.Fact]
}

// get returns the latest fact of a key that the store has, schemas.ErrNotFound for none.
func (f *factReader) get(ctx context.Context, key facts.Key) (facts.Fact, error) {
	fact, err := f.cached.Get(ctx, key)
	switch {
	case err != nil:
		return facts.Fact{}, err
	case fact == nil:
		return facts.Fact{}, schemas.ErrNotFound
	}
	return *fact, nil
}

// asked returns a fact that depends on what the client names: an upstream is asked for it
// where that is possible, and what the store has is the answer where it is not.
func (f *factReader) asked(ctx context.Context, key facts.Key) (facts.Fact, error) {
	if f.upstream == nil {
		return f.source.Fact(ctx, key)
	}
	fact, err := f.upstream.Ask(ctx, key)
	if !errors.Is(err, schemas.ErrUnavailable) {
		return fact, err
	}
	stored, storedErr := f.source.Fact(ctx, key)
	if errors.Is(storedErr, schemas.ErrNotFound) {
		return stored, &query.Error{Code: query.Unavailable, Msg: "The upstream that has the answer does not respond at the moment.", Err: err}
	}
	return stored, storedErr
}

// unknown gives the interface's word for a fact that is not known.
func unknown(err error, what string) error {
	if errors.Is(err, schemas.ErrNotFound) {
		return errNone(what)
	}
	return err
}
